//! The start of an operator while no other replica runs, and objects are stored in a former version: its caches need
//! its own conversion webhook.

use std::{
    fs,
    net::{SocketAddr, TcpListener as StdTcpListener},
    process::Command,
    sync::Arc,
    time::Duration,
};

use envtest::{Assets, ControlPlane};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_core::description::WebhookNames;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{
    process::{Process, Signal},
    program,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    Suite, client,
    manifests::{NAMESPACE, built, kubectl, succeeded},
    proxy::forward,
};

/// The longest delay between two lists of a watch cache of the server is 30 s.
const TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(200);
const DEFINITION: &str = "loggers.example.com";

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("cold_start::an_operator_starts_with_objects_of_a_former_version", |environment| {
        tokio::runtime::Runtime::new()?.block_on(cold_start(&environment.assets))
    })]
}

async fn cold_start(assets: &Assets) -> Result<(), Failed> {
    let control_plane = ControlPlane::start(assets)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    install(&control_plane, listener.local_addr()?.port())?;
    let operator = Operator::new(&control_plane)?;
    let mut tasks = JoinSet::new();
    let (health, webhooks) = (operator.health, operator.webhooks);
    tasks.spawn(forward(listener, move || endpoint(health, webhooks)));
    let client = client(&control_plane).await?;

    set_storage(&client, "v1").await?;
    let process = operator.start()?;
    until_converted(&client).await?;
    create(&client, "v1", json!({"name": "a", "timeInterval": 60})).await?;
    until_observed(&client, "a").await?;
    process.signal(Signal::KILL)?;
    drop(process);
    set_storage(&client, "v2").await?;
    assert!(loggers(&client, "v2").get("a").await.is_err(), "nothing converts the stored object");

    let process = operator.start()?;
    until_converted(&client).await?;
    create(&client, "v2", json!({"name": "b", "interval": "1m"})).await?;
    until_observed(&client, "b").await?;
    drop(process);
    Ok(())
}

/// Installs the definition with its conversion, and the Service, which is this machine.
fn install(control_plane: &ControlPlane, port: u16) -> Result<(), Failed> {
    let mut definition = built(control_plane)?
        .into_iter()
        .find(|object| object["kind"] == "CustomResourceDefinition")
        .ok_or("a definition is rendered")?;
    definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] = json!(port);
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": WebhookNames::new("logger-operator").service(), "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    });
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    for object in [namespace, service, definition] {
        succeeded(&kubectl(control_plane, &["apply", "--server-side", "-f", "-"], &object)?)?;
    }
    Ok(())
}

/// The operator outside of the cluster, with the certificate in its Secret as within.
struct Operator {
    files: TempDir,
    health: SocketAddr,
    webhooks: SocketAddr,
}

impl Operator {
    fn new(control_plane: &ControlPlane) -> Result<Self, Failed> {
        let files = tempfile::tempdir()?;
        let kubeconfig = files.path().join("kubeconfig");
        fs::copy(control_plane.kubeconfig(), &kubeconfig)?;
        let mut set_context = Command::new(control_plane.assets().kubectl());
        set_context.arg("--kubeconfig").arg(&kubeconfig).args(["config", "set-context", "--current"]);
        succeeded(&set_context.arg(format!("--namespace={NAMESPACE}")).output()?)?;
        // Both at a time, so that they differ.
        let (health, webhooks) = (StdTcpListener::bind("127.0.0.1:0")?, StdTcpListener::bind("127.0.0.1:0")?);
        Ok(Operator { files, health: health.local_addr()?, webhooks: webhooks.local_addr()? })
    }

    fn start(&self) -> Result<Process, Failed> {
        let mut command = Command::new(program("logger-operator"));
        command.args(["run", "--agent-image=logger-agent:latest", "--metrics-bind-address=127.0.0.1:0"]);
        command.arg(format!("--health-probe-bind-address={}", self.health));
        command.arg(format!("--webhook-bind-address={}", self.webhooks));
        command.env("KUBECONFIG", self.files.path().join("kubeconfig"));
        Ok(Process::start("logger-operator", &mut command, self.files.path().join("log"))?)
    }
}

/// Returns the address of the webhooks while the readiness probe succeeds, as a Service does.
async fn endpoint(health: SocketAddr, webhooks: SocketAddr) -> Option<SocketAddr> {
    is_ready(health).await.is_ok_and(|ready| ready).then_some(webhooks)
}

async fn is_ready(health: SocketAddr) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(health).await?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response.starts_with("HTTP/1.1 200 "))
}

fn loggers(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.com", version, "Logger");
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk(&kind))
}

async fn create(client: &Client, version: &str, spec: Value) -> Result<(), Failed> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Logger"));
    let name = spec["name"].as_str().unwrap_or_default().to_owned();
    let mut logger = DynamicObject::new(&name, &resource);
    logger.data = json!({"spec": spec});
    loggers(client, version).create(&PostParams::default(), &logger).await?;
    Ok(())
}

async fn set_storage(client: &Client, storage: &str) -> Result<(), Failed> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut versions = serde_json::to_value(definitions.get(DEFINITION).await?.spec.versions)?;
    for version in versions.as_array_mut().into_iter().flatten() {
        version["storage"] = json!(version["name"] == storage);
    }
    let patch = Patch::Merge(json!({"spec": {"versions": versions}}));
    definitions.patch(DEFINITION, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Waits until objects of both versions can be written.
async fn until_converted(client: &Client) -> Result<(), Failed> {
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let resource = |version| ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, "Logger"));
    let converted = async {
        for (version, spec) in
            [("v1", json!({"name": "probe", "timeInterval": 60})), ("v2", json!({"name": "probe", "interval": "1m"}))]
        {
            let mut probe = DynamicObject::new("probe", &resource(version));
            probe.data = json!({"spec": spec});
            while loggers(client, version).create(&dry_run, &probe).await.is_err() {
                sleep(POLL).await;
            }
        }
    };
    Ok(timeout(TIMEOUT, converted).await.map_err(|_| "no object is converted")?)
}

/// Waits until the operator has written the status of a Logger.
async fn until_observed(client: &Client, name: &str) -> Result<(), Failed> {
    let observed = async {
        loop {
            let logger = loggers(client, "v2").get(name).await;
            if logger.is_ok_and(|logger| logger.data["status"]["observedGeneration"].is_i64()) {
                break;
            }
            sleep(POLL).await;
        }
    };
    Ok(timeout(TIMEOUT, observed).await.map_err(|_| format!("the Logger `{name}` is not reconciled"))?)
}
