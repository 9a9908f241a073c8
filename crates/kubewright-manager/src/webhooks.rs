//! Webhooks: defaulters, validators and conversions of kinds, which the API server calls over HTTPS.
//!
//! A [`Webhooks`] value is the set of a program. [`ManagerBuilder::serve_webhooks`] serves and describes it; tests call
//! the same functions without TLS through [`Webhooks::into_service`].
//!
//! | module | contents |
//! |---|---|
//! | `admission` | defaulters, validators, denials, and the reviews of `admission.k8s.io/v1` |
//! | `conversion` | the reviews of `apiextensions.k8s.io/v1` |
//! | `webhook` | the options of one admission webhook |
//! | `metrics` | the metrics of controller-runtime |
//!
//! [`ManagerBuilder::serve_webhooks`]: crate::ManagerBuilder::serve_webhooks

mod admission;
mod check;
mod conversion;
mod error;
mod metrics;
mod webhook;
mod wire;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use k8s_openapi::{
    api::admissionregistration::v1::{
        MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_core::{
    Converter,
    description::{AdmissionWebhookDescription, ConversionWebhookDescription, OperatorDescription},
};
use kubewright_runtime::{ApiObject, metrics::Metrics};
use serde_json::Value;

pub use admission::{AdmissionRequest, Defaulter, Denied, Validator};
pub use error::WebhookError;
pub use kubewright_core::{
    description::{FailurePolicy, MatchPolicy, Operation, ReinvocationPolicy, SideEffects},
    validation::{FieldError, Invalid},
};
pub use webhook::Webhook;

use crate::serving::Router;
use admission::AdmissionHandler;
use conversion::Conversion;

/// The webhooks of a program.
///
/// Guarantees:
/// - every review gets a response with its uid, whatever its objects are and whatever a function does;
/// - a body that is not a review gets a `Status` with the reason, which the API server shows to the user;
/// - the path of a webhook is the same constant in its handler and in its description;
/// - names and paths are unique.
#[derive(Clone)]
#[must_use = "webhooks are served by a manager or a router"]
pub struct Webhooks {
    admission: Vec<Webhook>,
    conversions: Vec<Conversion>,
    metrics: Metrics,
    requires_certificate: bool,
}

impl Webhooks {
    /// Creates an empty set.
    pub fn new() -> Self {
        let (admission, conversions, metrics) = (Vec::new(), Vec::new(), Metrics::default());
        Webhooks { admission, conversions, metrics, requires_certificate: false }
    }

    /// Adds a defaulter with the default options.
    pub fn defaulter<K: ApiObject>(self, defaulter: impl Defaulter<K>) -> Self {
        self.webhook(Webhook::defaulting::<K>(defaulter))
    }

    /// Adds a validator with the default options: it validates creations and updates.
    pub fn validator<K: ApiObject>(self, validator: impl Validator<K>) -> Self {
        self.webhook(Webhook::validating::<K>(validator))
    }

    /// Adds an admission webhook.
    pub fn webhook(mut self, webhook: Webhook) -> Self {
        self.admission.push(webhook);
        self
    }

    /// Adds the conversion of a kind: a function that converts the JSON of an object to an `apiVersion` of the same
    /// group. Objects can be partial, without a name, a spec or required fields: the function must not set defaults.
    pub fn conversion<E: fmt::Display>(
        mut self,
        description: ConversionWebhookDescription,
        convert: impl Fn(&mut Value, &str) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.conversions.push(Conversion::new(description, convert));
        self
    }

    /// Adds the conversion of a kind by its converter, at the path `/convert/<plural>.<group>`.
    pub fn converter(mut self, converter: Converter) -> Self {
        self.conversions.push(Conversion::from_converter(converter));
        self
    }

    /// Sets where the metrics are collected; nowhere by default.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Rejects admission reviews of clients without a certificate of the
    /// [`ServerConfig::client_ca`](crate::serving::ServerConfig::client_ca), with code 401. Conversions need none: the
    /// API server has no certificate for them (`newWebhookConverterFactory` in apiextensions-apiserver).
    ///
    /// [`ManagerBuilder::serve_webhooks`](crate::ManagerBuilder::serve_webhooks) does so if the server has a
    /// `client_ca`.
    pub fn require_client_certificate(mut self) -> Self {
        self.requires_certificate = true;
        self
    }

    /// Validates the set: names, paths and options.
    ///
    /// # Errors
    /// Fails with the first error.
    pub fn check(&self) -> Result<(), WebhookError> {
        self.router().map(drop)
    }

    /// Returns the router of the webhooks, for a server.
    ///
    /// # Errors
    /// Fails if the set is [invalid](Self::check).
    pub fn router(&self) -> Result<Router, WebhookError> {
        check::check(&self.admission)?;
        let router = self.routes();
        router.validate()?;
        Ok(router)
    }

    fn routes(&self) -> Router {
        let admission = self.admission.iter().fold(Router::new(), |router, Webhook { description, reviewer }| {
            let AdmissionWebhookDescription { path, kind, .. } = description;
            let (kind, reviewer) = (kind.clone(), Arc::clone(reviewer));
            router.post(path, AdmissionHandler::new(path, kind, reviewer, self.requires_certificate, &self.metrics))
        });
        let conversions = self.conversions.iter();
        conversions.fold(admission, |router, conversion| {
            router.post(&conversion.description.path, conversion.handler(&self.metrics))
        })
    }

    /// Converts the set into a function from requests to responses, for an API server in the same process: see
    /// `ApiServer::call_webhooks` of `kubewright-apiserver`.
    ///
    /// # Errors
    /// Fails if the set is [invalid](Self::check).
    pub fn into_service(
        self,
    ) -> Result<
        impl Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Clone + Send + Sync + 'static,
        WebhookError,
    > {
        let router = Arc::new(self.router()?);
        Ok(move |request: Request<Bytes>| {
            let router = Arc::clone(&router);
            let response: BoxFuture<'static, _> = Box::pin(async move { router.respond(request).await });
            response
        })
    }

    /// Describes the webhooks.
    #[must_use]
    pub fn describe(&self) -> OperatorDescription {
        OperatorDescription {
            admission_webhooks: self.admission.iter().map(|webhook| webhook.description.clone()).collect(),
            conversion_webhooks: self.conversions.iter().map(|conversion| conversion.description.clone()).collect(),
            ..OperatorDescription::default()
        }
    }

    /// Returns the configuration of the mutating webhooks, for tests: manifests are rendered from the description. The
    /// function returns the client configuration of a path.
    #[must_use]
    pub fn mutating_configuration(
        &self,
        name: &str,
        client_config: impl Fn(&str) -> WebhookClientConfig,
    ) -> MutatingWebhookConfiguration {
        let descriptions = self.admission.iter().map(Webhook::description);
        let webhooks = descriptions.filter_map(|webhook| webhook.to_mutating_webhook(client_config(&webhook.path)));
        MutatingWebhookConfiguration { metadata: named(name), webhooks: Some(webhooks.collect()) }
    }

    /// Returns the configuration of the validating webhooks, for tests, as
    /// [`mutating_configuration`](Self::mutating_configuration).
    #[must_use]
    pub fn validating_configuration(
        &self,
        name: &str,
        client_config: impl Fn(&str) -> WebhookClientConfig,
    ) -> ValidatingWebhookConfiguration {
        let descriptions = self.admission.iter().map(Webhook::description);
        let webhooks = descriptions.filter_map(|webhook| webhook.to_validating_webhook(client_config(&webhook.path)));
        ValidatingWebhookConfiguration { metadata: named(name), webhooks: Some(webhooks.collect()) }
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conversions: Vec<_> = self.conversions.iter().map(|conversion| &conversion.description).collect();
        f.debug_struct("Webhooks")
            .field("admission", &self.admission)
            .field("conversions", &conversions)
            .finish_non_exhaustive()
    }
}
