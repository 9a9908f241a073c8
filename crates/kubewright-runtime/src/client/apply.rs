//! Server-side apply: field managers, and the `apply` methods of the typed client.

use futures::future::BoxFuture;
use kube::api::{Patch, PatchParams, ValidationDirective};
use kubewright_core::{apply::ApplyConfiguration, verbs, wire::OmitNone};
use serde::Serialize;
use serde_json::Value;

use super::TypedClient;
use crate::{
    error::Error,
    object::{ApiObject, resource_name},
};

/// The field manager of an apply request, and its options. The server records which manager owns which field by this
/// name: give each controller its own name, and never change it.
///
/// See <https://kubernetes.io/docs/reference/using-api/server-side-apply/>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldManager {
    name: String,
    force: bool,
    dry_run: bool,
    strict: bool,
}

impl FieldManager {
    /// Creates a manager with this name, which has 1 to 128 printable characters.
    pub fn new(name: impl Into<String>) -> Self {
        FieldManager { name: name.into(), force: false, dry_run: false, strict: false }
    }

    /// Resolves conflicts by taking over fields that another manager owns with another value, as controllers do for
    /// their own objects. Without it, such a field is a conflict.
    #[must_use]
    pub fn force(self) -> Self {
        FieldManager { force: true, ..self }
    }

    /// Processes the request without persisting the result.
    #[must_use]
    pub fn dry_run(self) -> Self {
        FieldManager { dry_run: true, ..self }
    }

    /// Rejects fields that are not in the schema, instead of pruning them.
    #[must_use]
    pub fn strict(self) -> Self {
        FieldManager { strict: true, ..self }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn params(&self) -> PatchParams {
        PatchParams {
            field_manager: Some(self.name.clone()),
            force: self.force,
            dry_run: self.dry_run,
            field_validation: self.strict.then_some(ValidationDirective::Strict),
        }
    }
}

impl<K: ApiObject> TypedClient<K> {
    /// Applies a configuration as this manager, and creates the object if it does not exist. Fields that the manager
    /// applied before and omits now are removed, unless another manager owns them too.
    ///
    /// # Errors
    /// Fails if another manager owns a field with another value (a conflict), the result is invalid, the configuration
    /// is for another namespace, or the request fails.
    pub fn apply<'a, C>(&'a self, configuration: &'a C, manager: &'a FieldManager) -> BoxFuture<'a, Result<K, Error>>
    where
        C: ApplyConfiguration<Kind = K> + Sync,
        K: verbs::Apply,
    {
        Box::pin(async move {
            let (name, patch) = self.apply_request(configuration)?;
            let applied = self.api().patch(name, &manager.params(), &patch).await;
            applied.map_err(self.request_error("apply", name))
        })
    }

    /// Applies the status of a configuration as this manager. Fields outside the status have no effect.
    ///
    /// # Errors
    /// Fails if the object does not exist, another manager owns a field with another value (a conflict), the result is
    /// invalid, the configuration is for another namespace, or the request fails.
    pub fn apply_status<'a, C>(
        &'a self,
        configuration: &'a C,
        manager: &'a FieldManager,
    ) -> BoxFuture<'a, Result<K, Error>>
    where
        C: ApplyConfiguration<Kind = K> + Sync,
        K: verbs::ApplyStatus,
    {
        Box::pin(async move {
            let on_status = |error: Error| error.with_subresource(Some("status"));
            let (name, patch) = self.apply_request(configuration).map_err(on_status)?;
            let applied = self.api().patch_status(name, &manager.params(), &patch).await;
            applied.map_err(self.request_error("apply", name)).map_err(on_status)
        })
    }

    /// Returns the name of the object and the patch to send.
    fn apply_request<'a, C: ApplyConfiguration>(&self, configuration: &'a C) -> Result<(&'a str, Patch<Value>), Error> {
        let (name, namespace) = (configuration.metadata().name(), configuration.metadata().namespace());
        if let (Some(requested), Some(client)) = (namespace, self.api().namespace())
            && requested != client
        {
            let error = Error::namespace_mismatch("apply", resource_name::<K>(), name, requested);
            return Err(error.with_namespace(Some(client)));
        }
        let patch = patch(configuration).map_err(kube::Error::SerdeError).map_err(self.request_error("apply", name))?;
        Ok((name, patch))
    }
}

/// Serializes the patch of an apply request, omitting unset fields at any depth.
pub(crate) fn patch(configuration: &impl Serialize) -> Result<Patch<Value>, serde_json::Error> {
    serde_json::to_value(OmitNone(configuration)).map(Patch::Apply)
}
