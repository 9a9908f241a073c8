//! The CustomResourceDefinition: read, installed, and removed again if it was installed here.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use logger_runtime::kube::api::{DeleteParams, PostParams};
use logger_runtime::kube::runtime::wait::{await_condition, conditions};
use logger_runtime::kube::{Api, Client, Error};

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

/// Installs the definition and waits until its kind is served. `true` if it was not there before.
pub(crate) async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<bool> {
    let (api, name) = (Api::<CustomResourceDefinition>::all(client.clone()), name(crd)?);
    let made = match api.create(&PostParams::default(), crd).await {
        Ok(_) => true,
        Err(Error::Api(status)) if status.is_already_exists() => false,
        Err(error) => return Err(error).with_context(|| format!("cannot install the CRD {name}")),
    };
    println!(
        "CRD:        {name} {}",
        if made {
            "installed"
        } else {
            "was there already; used as it is"
        }
    );
    let established = await_condition(api, name, conditions::is_crd_established());
    tokio::time::timeout(ESTABLISHED_WITHIN, established)
        .await
        .with_context(|| {
            format!(
                "the CRD {name} is not served after {ESTABLISHED_WITHIN:?}; `kubectl describe crd {name}` tells why"
            )
        })?
        .with_context(|| format!("cannot watch the CRD {name}"))?;
    Ok(made)
}

/// Removes the definition if it was made here: one that was there before stays.
pub(crate) async fn remove(client: &Client, crd: &CustomResourceDefinition, made: bool) -> Result<()> {
    if !made {
        return Ok(());
    }
    let (api, name) = (Api::<CustomResourceDefinition>::all(client.clone()), name(crd)?);
    api.delete(name, &DeleteParams::default())
        .await
        .with_context(|| format!("cannot remove the CRD {name} again"))?;
    println!("CRD:        {name} removed");
    Ok(())
}

fn name(crd: &CustomResourceDefinition) -> Result<&str> {
    crd.metadata.name.as_deref().context("the CRD has no metadata.name")
}
