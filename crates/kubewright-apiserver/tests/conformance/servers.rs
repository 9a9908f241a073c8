//! The two servers that a check runs on.

use std::{error::Error, time::Duration};

use envtest::ControlPlane;
use http::{Request, StatusCode};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::ApiServer;
use libtest_mimic::Failed;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::{answers::Answer, check, topic};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server that answers checks.
pub(crate) trait Server {
    /// Runs a check and returns the answers. `attempt` counts retries.
    fn answers(&self, check: &topic::Check, attempt: usize) -> Result<Vec<Answer>, Failed>;
}

/// A dedicated server in memory for every check, with paused time.
pub(crate) struct InMemory;

impl Server for InMemory {
    fn answers(&self, check: &topic::Check, attempt: usize) -> Result<Vec<Answer>, Failed> {
        runtime(true)?.block_on(async {
            let builder = ApiServer::builder().collects_garbage(false).rbac(true);
            let client = builder.service_account_issuer(envtest::SERVICE_ACCOUNT_ISSUER).build().client();
            install(&client).await.map_err(|error| error.to_string())?;
            check::run(&client, check, attempt).await
        })
    }
}

/// A kube-apiserver with the shared definitions.
pub(crate) struct Real(Config);

impl Real {
    pub(crate) fn prepare(control_plane: &ControlPlane) -> Result<Self, Box<dyn Error>> {
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
        runtime(false)?.block_on(async {
            let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
            // Checks expect answers such as 504, so the client must not retry.
            config.default_retry = false;
            install(&Client::try_from(config.clone())?).await?;
            Ok(Self(config))
        })
    }
}

impl Server for Real {
    fn answers(&self, check: &topic::Check, attempt: usize) -> Result<Vec<Answer>, Failed> {
        runtime(false)?.block_on(async { check::run(&Client::try_from(self.0.clone())?, check, attempt).await })
    }
}

fn runtime(paused: bool) -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().start_paused(paused).build()
}

/// Creates the shared definitions, and waits until their kinds are served.
async fn install(client: &Client) -> Result<(), Box<dyn Error>> {
    let definitions = topic::definitions()?;
    for definition in &definitions {
        let (code, body) = send(client, "POST", DEFINITIONS, serde_json::to_vec(definition)?).await?;
        if code != StatusCode::CREATED {
            return Err(body.into());
        }
    }
    for definition in &definitions {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let group = text("/spec/group");
        let path = format!("/apis/{group}/{}/{}", text("/spec/versions/0/name"), text("/spec/names/plural"));
        while send(client, "GET", &path, Vec::new()).await?.0 != StatusCode::OK {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: Vec<u8>,
) -> Result<(StatusCode, String), Box<dyn Error>> {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let response = client.send(request.body(Body::from(body))?).await?;
    let code = response.status();
    let body = response.into_body().collect_bytes().await?;
    Ok((code, String::from_utf8_lossy(&body).into_owned()))
}
