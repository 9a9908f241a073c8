//! Admission webhooks: defaulters and validators of one kind.

mod denied;
mod handler;
mod patch;
mod request;
mod review;
mod reviewer;

use std::future::ready;

use kubewright_runtime::ApiObject;

pub use denied::Denied;
pub use request::AdmissionRequest;

pub(super) use handler::AdmissionHandler;
pub(super) use reviewer::{Defaulting, Reviewer, Validating};

/// Sets the unset fields of objects, before the API server validates them.
///
/// What a `default` in the schema of a custom resource can express needs no webhook. A function is a defaulter:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_manager::webhooks::{AdmissionRequest, Denied, Webhooks};
///
/// let webhooks = Webhooks::new().defaulter::<ConfigMap>(|map: &mut ConfigMap, _: &AdmissionRequest| {
///     map.data.get_or_insert_default().entry("level".to_owned()).or_insert_with(|| "info".to_owned());
///     Ok::<_, Denied>(())
/// });
/// # let _ = webhooks;
/// ```
///
/// Guarantees:
/// - the patch contains what the defaulter changed and nothing else: fields that the type does not have, and values
///   that it encodes differently, remain as they are;
/// - it is called for creations and updates only, whatever the operations of the webhook are;
/// - a panic denies the request, and the process continues.
///
/// It must be idempotent: the API server calls webhooks again, and with objects that were defaulted before.
pub trait Defaulter<K>: Send + Sync + 'static {
    /// Sets the unset fields.
    ///
    /// # Errors
    /// The request is denied with this status.
    fn default(&self, object: &mut K, request: &AdmissionRequest) -> impl Future<Output = Result<(), Denied>> + Send;
}

impl<K, F> Defaulter<K> for F
where
    F: Fn(&mut K, &AdmissionRequest) -> Result<(), Denied> + Send + Sync + 'static,
{
    fn default(&self, object: &mut K, request: &AdmissionRequest) -> impl Future<Output = Result<(), Denied>> + Send {
        ready(self(object, request))
    }
}

/// Accepts or denies creations, updates and deletions of objects. Each method accepts everything by default.
///
/// What the schema and the CEL rules of a custom resource can express needs no webhook: a webhook that is not available
/// blocks all writes of the kind. A validator is for rules that depend on other objects or on the user.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_core::validation::FieldError;
/// use kubewright_manager::webhooks::{AdmissionRequest, Denied, Validator, Webhooks};
///
/// struct Frozen;
///
/// impl Validator<ConfigMap> for Frozen {
///     async fn validate_update(
///         &self,
///         object: &ConfigMap,
///         old: &ConfigMap,
///         request: &AdmissionRequest,
///     ) -> Result<(), Denied> {
///         if object.data == old.data {
///             return Ok(());
///         }
///         request.warn("create a new ConfigMap for each release");
///         Err(Denied::invalid([FieldError::forbidden("data", "must not be changed")]))
///     }
/// }
///
/// let webhooks = Webhooks::new().validator::<ConfigMap>(Frozen);
/// # let _ = webhooks;
/// ```
///
/// Deletions are only sent to a webhook that requests them: see
/// [`Webhook::operations`](super::Webhook::operations).
pub trait Validator<K: ApiObject>: Send + Sync + 'static {
    /// Validates a new object.
    ///
    /// # Errors
    /// The request is denied with this status.
    fn validate_create(
        &self,
        object: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<(), Denied>> + Send {
        let _ = (object, request);
        ready(Ok(()))
    }

    /// Validates the update of an object.
    ///
    /// # Errors
    /// The request is denied with this status.
    fn validate_update(
        &self,
        object: &K,
        old: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<(), Denied>> + Send {
        let _ = (object, old, request);
        ready(Ok(()))
    }

    /// Validates the deletion of an object.
    ///
    /// # Errors
    /// The request is denied with this status.
    fn validate_delete(
        &self,
        object: &K,
        request: &AdmissionRequest,
    ) -> impl Future<Output = Result<(), Denied>> + Send {
        let _ = (object, request);
        ready(Ok(()))
    }
}
