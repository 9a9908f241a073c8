//! Server-side apply: a field manager says what an object must have, and owns that.

use futures::future::BoxFuture;
use kube::api::{Patch, PatchParams, ValidationDirective};
use logger_core::apply::ApplyConfiguration;
use logger_core::verbs;
use logger_core::wire::OmitNone;
use serde::Serialize;
use serde_json::Value;

use crate::client::TypedClient;
use crate::error::Error;
use crate::object::ApiObject;

/// Who applies, and how. A server keeps account of who owns which field by this name: give each controller its own, and
/// never change it.
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
    /// The manager of this name: 1 to 128 printable characters.
    pub fn new(name: impl Into<String>) -> Self {
        FieldManager { name: name.into(), force: false, dry_run: false, strict: false }
    }

    /// Takes fields over that others own and have other values: what a controller wants of its own objects. Without it,
    /// such a field is a conflict.
    pub fn force(self) -> Self {
        FieldManager { force: true, ..self }
    }

    /// Has the server answer as if, and store nothing.
    pub fn dry_run(self) -> Self {
        FieldManager { dry_run: true, ..self }
    }

    /// Has the server refuse fields that its schema does not know, rather than drop them.
    pub fn strict(self) -> Self {
        FieldManager { strict: true, ..self }
    }

    /// Its name.
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
    /// Says what an object must have, as this manager, and makes it if it is not there. What the manager applied before
    /// and does not any more is removed, unless another owns it too.
    ///
    /// # Errors
    /// Another manager owns a field with another value (a conflict), the result breaks a rule, the configuration is for
    /// another namespace, or the request failed.
    pub fn apply<'a, C>(&'a self, configuration: &'a C, manager: &'a FieldManager) -> BoxFuture<'a, Result<K, Error>>
    where
        C: ApplyConfiguration<Kind = K> + Sync,
        K: verbs::Apply,
    {
        Box::pin(async move {
            let (name, patch) = self.to_apply(configuration)?;
            let applied = self.api().patch(name, &manager.params(), &patch).await;
            applied.map_err(self.failed("apply", name))
        })
    }

    /// Says what the status of an object must have, as this manager. What else the configuration says has no effect.
    ///
    /// # Errors
    /// The object is not there, another manager owns a field with another value (a conflict), the result breaks a rule,
    /// the configuration is for another namespace, or the request failed.
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
            let of_status = |error: Error| error.of_subresource(Some("status"));
            let (name, patch) = self.to_apply(configuration).map_err(of_status)?;
            let applied = self.api().patch_status(name, &manager.params(), &patch).await;
            applied.map_err(self.failed("apply", name)).map_err(of_status)
        })
    }

    /// What is sent, and the name of the object it is about.
    fn to_apply<'a, C: ApplyConfiguration>(&self, configuration: &'a C) -> Result<(&'a str, Patch<Value>), Error> {
        let (name, namespace) = (configuration.metadata().name(), configuration.metadata().namespace());
        if let (Some(of), Some(in_)) = (namespace, self.api().namespace())
            && of != in_
        {
            return Err(Error::elsewhere("apply", crate::object::resource::<K>(), name, of).in_namespace(Some(in_)));
        }
        let patch = patch(configuration).map_err(kube::Error::SerdeError).map_err(self.failed("apply", name))?;
        Ok((name, patch))
    }
}

/// What is sent: what is unset is left out at any depth.
pub(crate) fn patch(configuration: &impl Serialize) -> Result<Patch<Value>, serde_json::Error> {
    serde_json::to_value(OmitNone(configuration)).map(Patch::Apply)
}
