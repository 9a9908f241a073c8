//! The CustomResourceDefinition: read, installed, and removed if it was installed here.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, anyhow};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_runtime::{
    Error,
    kube::{
        self, Api, Client,
        api::{DeleteParams, PostParams},
        runtime::wait::{await_condition, conditions},
    },
};

use crate::output::print;

const GENERATED: &str = include_str!("../../../config/crd/bases/example.com_loggers.yaml");

/// How long the API server may take to serve a new kind.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the definition from this file, or returns the generated one.
pub(crate) fn read(file: Option<&Path>) -> Result<CustomResourceDefinition> {
    let (source, text) = match file {
        None => ("the generated CRD".to_owned(), GENERATED.to_owned()),
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            (file.display().to_string(), text)
        }
    };
    // The text of the error contains its cause, so it is not chained.
    let crd: CustomResourceDefinition = serde_saphyr::from_str(&text)
        .map_err(|error| anyhow!("{source} contains no CustomResourceDefinition: {error}"))?;
    name(&crd).with_context(|| format!("{source} contains no CustomResourceDefinition"))?;
    Ok(crd)
}

/// Installs the definition, and reports whether it did not exist before.
pub(crate) async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<bool> {
    let name = name(crd)?;
    let is_new = match api(client).create(&PostParams::default(), crd).await {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.is_already_exists() => false,
        Err(error) => return Err(api_error("create", name, error)),
    };
    let result = if is_new { "installed" } else { "already exists; used unchanged" };
    print(format!("CRD:        {name} {result}"));
    Ok(is_new)
}

/// Waits until the kind is served.
pub(crate) async fn wait_until_served(client: &Client, crd: &CustomResourceDefinition) -> Result<()> {
    let name = name(crd)?;
    let established = await_condition(api(client), name, conditions::is_crd_established());
    let hint = || format!("the CRD {name} is not served after {TIMEOUT:?}; see `kubectl describe crd {name}`");
    let established = tokio::time::timeout(TIMEOUT, established).await.with_context(hint)?;
    established.map(drop).with_context(|| format!("cannot watch the CRD {name}"))
}

/// Removes the definition.
pub(crate) async fn remove(client: &Client, crd: &CustomResourceDefinition) -> Result<()> {
    let name = name(crd)?;
    let removed = api(client).delete(name, &DeleteParams::default()).await;
    let hint = || format!("the CRD {name} still exists; remove it with `kubectl delete crd {name}`");
    removed.map_err(|error| api_error("delete", name, error)).with_context(hint)?;
    print(format!("CRD:        {name} removed"));
    Ok(())
}

fn api(client: &Client) -> Api<CustomResourceDefinition> {
    Api::all(client.clone())
}

/// Converts an error to the format of the typed clients.
fn api_error(verb: &'static str, name: &str, error: kube::Error) -> anyhow::Error {
    Error::new(verb, "customresourcedefinitions.apiextensions.k8s.io", name, error).into()
}

fn name(crd: &CustomResourceDefinition) -> Result<&str> {
    crd.metadata.name.as_deref().context("the CRD has no metadata.name")
}
