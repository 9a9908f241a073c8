//! The writes of a context, which are not sent if they change nothing.

use std::{fmt, sync::Arc};

use kube::api::{Patch, PatchParams, PostParams};
use kubewright_core::{apply::ApplyConfiguration, verbs};
use serde::Serialize;
use serde_json::Value;

use super::{
    applied::{Digest, Target},
    object::ReconcileContext,
};
use crate::{
    client::{ScopedObject, TypedClient},
    error::Error,
    object::{ApiObject, ObjectKey},
};

impl<S> ReconcileContext<S> {
    /// Applies a configuration as the [field manager](Self::field_manager) of this controller, in the namespace of the
    /// configuration. Returns the object.
    ///
    /// The apply is not sent if it changes nothing: the controller watches the kind, an equal configuration was the
    /// last one that it applied to this object since its start, and the cached object is equal to the result. Changes
    /// of the status are ignored, unless the configuration has one.
    ///
    /// # Errors
    /// Fails if the result is invalid or the request fails.
    pub async fn apply<C>(&self, configuration: &C) -> Result<Arc<C::Kind>, Error>
    where
        C: ApplyConfiguration<Kind: ScopedObject + verbs::Apply> + Sync,
    {
        self.unless_unchanged(configuration, false, async |client: TypedClient<C::Kind>| {
            client.apply(configuration, self.field_manager()).await
        })
        .await
    }

    /// Applies the status of a configuration, like [`apply`](Self::apply). Only the status is compared.
    ///
    /// # Errors
    /// Fails if the object does not exist, the result is invalid, or the request fails.
    pub async fn apply_status<C>(&self, configuration: &C) -> Result<Arc<C::Kind>, Error>
    where
        C: ApplyConfiguration<Kind: ScopedObject + verbs::ApplyStatus> + Sync,
    {
        self.unless_unchanged(configuration, true, async |client: TypedClient<C::Kind>| {
            client.apply_status(configuration, self.field_manager()).await
        })
        .await
    }

    async fn unless_unchanged<C, F, Fut>(
        &self,
        configuration: &C,
        is_status: bool,
        apply: F,
    ) -> Result<Arc<C::Kind>, Error>
    where
        C: ApplyConfiguration<Kind: ScopedObject>,
        F: FnOnce(TypedClient<C::Kind>) -> Fut,
        Fut: Future<Output = Result<C::Kind, Error>>,
    {
        let metadata = configuration.metadata();
        let namespace = metadata.namespace().unwrap_or_default();
        let key = ObjectKey::namespaced(namespace, metadata.name());
        let cached = self.store::<C::Kind>().and_then(|store| store.get_by_key(&key));
        let (target, digest) = (Target::new::<C::Kind>(key, is_status), Digest::from_configuration(configuration));
        if let (Some(digest), Some(cached)) = (&digest, cached)
            && self.applied().is_unchanged(&target, digest, &*cached)
        {
            return Ok(cached);
        }
        let applied = apply(TypedClient::scoped(self.client().clone(), namespace)).await?;
        if let Some(digest) = &digest {
            self.applied().record(target, digest, &applied);
        }
        Ok(Arc::new(applied))
    }

    /// Changes an object in the namespace of the reconciled one by a JSON merge patch, such as an annotation of an
    /// object that users create. Returns the result; `None` if the object does not exist, while [`apply`](Self::apply)
    /// would create it. Declare the permission with [`allow`](super::ControllerBuilder::allow) and the verb `patch`.
    ///
    /// # Errors
    /// Fails if the result is invalid or the request fails.
    pub async fn patch_if_exists<K>(
        &self,
        name: &str,
        patch: &(impl Serialize + fmt::Debug + Sync),
    ) -> Result<Option<K>, Error>
    where
        K: ScopedObject + verbs::Patch,
    {
        match self.typed::<K>().patch(name, &Patch::Merge(patch), &PatchParams::default()).await {
            Err(error) if error.is_not_found() => Ok(None),
            patched => patched.map(Some),
        }
    }

    /// Updates the status of an object: the function changes a copy, and its result is ignored. The update is not sent
    /// if the status is equal to that of the object, and is ignored if the object was deleted meanwhile. Returns
    /// whether it was sent.
    ///
    /// # Errors
    /// Fails if the object was changed meanwhile (a conflict) or is invalid, or the request fails.
    pub async fn update_status<K, T>(&self, object: &K, update: impl FnOnce(&mut K) -> T) -> Result<bool, Error>
    where
        K: ScopedObject + verbs::UpdateStatus,
    {
        let mut updated = object.clone();
        drop(update(&mut updated));
        if status(object).is_some_and(|before| status(&updated) == Some(before)) {
            return Ok(false);
        }
        let namespace = object.meta().namespace.as_deref().unwrap_or_default();
        let client: TypedClient<K> = TypedClient::scoped(self.client().clone(), namespace);
        match client.update_status(&updated, &PostParams::default()).await {
            Err(error) if error.is_not_found() => Ok(false),
            sent => sent.map(|_| true),
        }
    }
}

/// Returns the status; `None` if the object cannot be serialized, so that the update fails, too.
fn status<K: ApiObject>(object: &K) -> Option<Value> {
    serde_json::to_value(object).ok().map(|mut object| object["status"].take())
}
