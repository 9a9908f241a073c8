//! The CustomResourceDefinition: read, installed, and removed again if it was installed here.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use logger_runtime::Error;
use logger_runtime::kube::api::{DeleteParams, PostParams};
use logger_runtime::kube::runtime::wait::{await_condition, conditions};
use logger_runtime::kube::{self, Api, Client};

use crate::voice::say;

const GENERATED: &str = include_str!("../../../config/crd/bases/example.com_loggers.yaml");

/// How long the API server may take to serve a new kind.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// The definition in this file, or the generated one.
pub(crate) fn read(file: Option<&Path>) -> Result<CustomResourceDefinition> {
    let (shown, text) = match file {
        None => ("the generated CRD".to_owned(), GENERATED.to_owned()),
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            (file.display().to_string(), text)
        }
    };
    // The error's text has the cause in it, so it is not chained.
    let crd: CustomResourceDefinition =
        serde_saphyr::from_str(&text).map_err(|error| anyhow!("{shown} holds no CustomResourceDefinition: {error}"))?;
    name(&crd).with_context(|| format!("{shown} holds no CustomResourceDefinition"))?;
    Ok(crd)
}

/// Installs the definition. `true` if it was not there before.
pub(crate) async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<bool> {
    let name = name(crd)?;
    let made = match api(client).create(&PostParams::default(), crd).await {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.is_already_exists() => false,
        Err(error) => return Err(failed("create", name, error)),
    };
    let what = if made { "installed" } else { "was there already; used as it is" };
    say(format!("CRD:        {name} {what}"));
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
    let hint = || format!("the CRD {name} is still there; remove it with `kubectl delete crd {name}`");
    removed.map_err(|error| failed("delete", name, error)).with_context(hint)?;
    say(format!("CRD:        {name} removed"));
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
