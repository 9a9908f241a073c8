//! The CustomResourceDefinition of the reference API: installed or applied, and removed again.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_core::description::WebhookNames;
use kubewright_manager::crds::{CrdError, Definitions};
use kubewright_runtime::{
    Error,
    kube::{
        self, Api, Client,
        api::{DeleteParams, PostParams},
        runtime::wait::{self, await_condition, conditions},
    },
};
use logger_operator::{
    names::{CONTROLLER, CRDS_FIELD_MANAGER},
    webhooks,
};
use tokio::time::timeout;

/// The namespace of the webhook of the operator.
const NAMESPACE: &str = "logger-operator-system";
const GENERATED: &str = include_str!("../../../config/crd/bases/example.com_loggers.yaml");
/// The name of the definition.
pub const NAME: &str = "loggers.example.com";
const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// How long the API server can take to serve a new kind.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The reason why the kind is not served.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The generated file contains no definition.
    #[error("the generated CRD is invalid: {0}; run `cargo xtask codegen`")]
    Invalid(String),
    /// A request failed.
    #[error(transparent)]
    Request(#[from] Error),
    /// The definition cannot be applied.
    #[error(transparent)]
    Apply(#[from] CrdError),
    /// The definition cannot be watched.
    #[error("cannot watch the CRD {NAME}")]
    Watch(#[source] Box<wait::Error>),
    /// The API server does not serve the kind.
    #[error("the CRD {NAME} is not served after {TIMEOUT:?}; see `kubectl describe crd {NAME}`")]
    NotServed,
}

/// Installs the definition, unless there is one. Returns whether it was installed.
///
/// # Errors
/// Fails if the request fails.
pub async fn install(client: &Client) -> Result<bool, DefinitionError> {
    let definition: CustomResourceDefinition =
        serde_saphyr::from_str(GENERATED).map_err(|error| DefinitionError::Invalid(error.to_string()))?;
    match api(client).create(&PostParams::default(), &definition).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
        Err(error) => Err(Error::new("create", RESOURCE, NAME, error).into()),
    }
}

/// Applies the definition with the conversion of the operator, and waits until the kind is served. Objects of a former
/// definition remain.
///
/// # Errors
/// Fails if the definition of the cluster is incompatible, a request fails, or the kind is not served in time.
pub async fn apply(client: &Client) -> Result<(), DefinitionError> {
    let (conversions, names) = (webhooks().describe().conversion_webhooks, WebhookNames::new(CONTROLLER));
    let definitions = Definitions::parse(GENERATED)?.convert(&conversions, NAMESPACE, &names, None);
    definitions.plan(client.clone()).await?.apply(CRDS_FIELD_MANAGER, false).await?;
    Ok(())
}

/// Waits until the kind is served.
///
/// # Errors
/// Fails if it is not served in time, or the definition cannot be watched.
pub async fn wait_until_served(client: &Client) -> Result<(), DefinitionError> {
    let established = await_condition(api(client), NAME, conditions::is_crd_established());
    let established = timeout(TIMEOUT, established).await.map_err(|_| DefinitionError::NotServed)?;
    established.map(drop).map_err(|error| DefinitionError::Watch(Box::new(error)))
}

/// Removes the definition, and with it all Loggers.
///
/// # Errors
/// Fails if the request fails.
pub async fn remove(client: &Client) -> Result<(), Error> {
    match api(client).delete(NAME, &DeleteParams::default()).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(Error::new("delete", RESOURCE, NAME, error)),
    }
}

fn api(client: &Client) -> Api<CustomResourceDefinition> {
    Api::all(client.clone())
}
