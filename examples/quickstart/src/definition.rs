//! The CustomResourceDefinition: read, installed, and removed again if it was installed here.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use logger_runtime::Error;
use logger_runtime::kube::api::{DeleteParams, PostParams};
use logger_runtime::kube::runtime::wait::{await_condition, conditions};
use logger_runtime::kube::{self, Api, Client};

const GENERATED: &str = include_str!("../../../config/crd/bases/example.com_loggers.yaml");

/// How long the API server may take to serve a new kind.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// The definition in this file, or the generated one.
pub(crate) fn read(file: Option<&Path>) -> Result<CustomResourceDefinition> {
    let Some(file) = file else {
        return serde_saphyr::from_str(GENERATED).context("the generated CRD is no CustomResourceDefinition");
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_saphyr::from_str(&text).with_context(|| format!("{} holds no CustomResourceDefinition", file.display()))
}

/// Installs the definition. `true` if it was not there before.
pub(crate) async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<bool> {
    let name = name(crd)?;
    let made = match api(client).create(&PostParams::default(), crd).await {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.is_already_exists() => false,
        Err(error) => return Err(failed("create", name, error)),
    };
    println!("CRD:        {name} {}", if made { "installed" } else { "was there already; used as it is" });
    Ok(made)
}

/// Waits until its kind is served.
pub(crate) async fn established(client: &Client, crd: &CustomResourceDefinition) -> Result<()> {
    let name = name(crd)?;
    let established = await_condition(api(client), name, conditions::is_crd_established());
    let why = || {
        format!("the CRD {name} is not served after {ESTABLISHED_WITHIN:?}; `kubectl describe crd {name}` tells why")
    };
    let established = tokio::time::timeout(ESTABLISHED_WITHIN, established).await.with_context(why)?;
    established.map(drop).with_context(|| format!("cannot watch the CRD {name}"))
}

/// Removes the definition if it was made here: one that was there before stays.
pub(crate) async fn remove(client: &Client, crd: &CustomResourceDefinition, made: bool) -> Result<()> {
    if !made {
        return Ok(());
    }
    let name = name(crd)?;
    let removed = api(client).delete(name, &DeleteParams::default()).await;
    removed.map_err(|error| failed("delete", name, error))?;
    println!("CRD:        {name} removed");
    Ok(())
}

fn api(client: &Client) -> Api<CustomResourceDefinition> {
    Api::all(client.clone())
}

/// The error as the typed clients say theirs.
fn failed(verb: &'static str, name: &str, error: kube::Error) -> anyhow::Error {
    Error::new(verb, "customresourcedefinitions.apiextensions.k8s.io", name, error).into()
}

fn name(crd: &CustomResourceDefinition) -> Result<&str> {
    crd.metadata.name.as_deref().context("the CRD has no metadata.name")
}
