//! Objects that a reconciled object owns.

use std::{collections::HashSet, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::DeleteParams;
use kubewright_core::{apply::ApplyConfiguration, verbs};

use super::object::ReconcileContext;
use crate::{
    client::{Preconditions, ScopedObject, TypedClient},
    error::Error,
    object::{ApiObject, ObjectKey, resource_name},
    store::Index,
};

/// The label of the objects that [`ReconcileContext::apply_owned`] applies, with the name of the controller as its
/// value.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

impl<S> ReconcileContext<S> {
    /// Applies an object that another one owns as its controller, as the [field manager](Self::field_manager) of this
    /// controller, and labels it with [`MANAGED_BY_LABEL`]. The owner must be in the same namespace, or cluster-scoped.
    /// The object blocks its deletion in the foreground, as with controller-runtime's `SetControllerReference`.
    /// An apply that changes nothing is not sent, as with [`apply`](Self::apply).
    ///
    /// # Errors
    /// Fails if the owner has no UID, so that it does not come from a server, the request fails, or the owner is
    /// namespaced and the object is cluster-scoped or in another namespace ([`Error::is_invalid_owner`]).
    pub async fn apply_owned<O, C>(&self, owner: &O, configuration: C) -> Result<Arc<C::Kind>, Error>
    where
        O: ApiObject,
        C: ApplyConfiguration<Kind: ScopedObject + verbs::Apply> + Sync,
    {
        let reference = owner.controller_owner_ref(&());
        let reference = reference.ok_or_else(|| Error::missing_name("apply", resource_name::<O>()))?;
        let reference = OwnerReference { block_owner_deletion: Some(true), ..reference };
        let mut configuration = configuration.with_owner_reference(reference);
        let labels = configuration.metadata_mut().labels.get_or_insert_default();
        labels.insert(MANAGED_BY_LABEL.to_owned(), self.field_manager().name().to_owned());
        validate_owner(owner, &configuration)?;
        self.apply(&configuration).await
    }

    /// Deletes the objects that are not desired anymore: those that [`apply_owned`](Self::apply_owned) applied for this
    /// owner, by their label and the UID of the owner, except these. Objects that are being deleted are not counted.
    /// Returns the number of deletions.
    ///
    /// The objects are those of the cache, so the controller must watch the kind. An object that was recreated since is
    /// not deleted.
    ///
    /// # Errors
    /// Fails if the controller does not watch the kind, or a request fails.
    pub async fn prune_owned<O, C>(&self, owner: &O, desired: &[Arc<C>]) -> Result<usize, Error>
    where
        O: ApiObject,
        C: ScopedObject + verbs::Delete,
    {
        let store = self.store::<C>().ok_or_else(|| Error::not_watched("delete", resource_name::<C>()))?;
        let index = by_controller::<C>();
        if !store.has_index(index.name()) {
            // Fails if a concurrent call added it, or the informer was stopped; the query then scans.
            drop(store.add_index(index));
        }
        let desired: HashSet<_> = desired.iter().map(|object| ObjectKey::from_object(&**object)).collect();
        let mut deleted = 0;
        for child in store.by_index(&index, owner.meta().uid.as_deref().unwrap_or_default()) {
            let key = ObjectKey::from_object(&*child);
            let label = child.meta().labels.as_ref().and_then(|labels| labels.get(MANAGED_BY_LABEL));
            let is_applied = label.is_some_and(|label| label == self.field_manager().name());
            if is_applied && child.meta().deletion_timestamp.is_none() && !desired.contains(&key) {
                deleted += usize::from(self.delete(&key, &*child).await?);
            }
        }
        Ok(deleted)
    }

    /// Deletes this object, and not one that was recreated under the same name. Returns whether it existed.
    async fn delete<C: ScopedObject + verbs::Delete>(&self, key: &ObjectKey, object: &C) -> Result<bool, Error> {
        let client: TypedClient<C> = TypedClient::scoped(self.client().clone(), key.namespace());
        let params = Preconditions::uid(object).apply_to(DeleteParams::background());
        match client.delete(key.name(), &params).await {
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(false),
            sent => sent.map(|()| true),
        }
    }
}

/// Validates that the garbage collector finds the owner: in the namespace of the object, or cluster-scoped. As
/// `validateOwner` of controller-runtime.
fn validate_owner<C: ApplyConfiguration<Kind: ApiObject>>(
    owner: &impl ApiObject,
    configuration: &C,
) -> Result<(), Error> {
    let metadata = configuration.metadata();
    let owner_namespace = owner.meta().namespace.as_deref().unwrap_or_default();
    let namespace = metadata.namespace().filter(|namespace| !namespace.is_empty());
    if owner_namespace.is_empty() || namespace == Some(owner_namespace) {
        return Ok(());
    }
    let error = Error::invalid_owner("apply", resource_name::<C::Kind>(), metadata.name(), owner_namespace);
    Err(error.with_namespace(namespace))
}

/// Returns the index of objects by the UID of their controller.
fn by_controller<C: ApiObject>() -> Index<C> {
    Index::new("kubewright_runtime_by_controller_uid", |object| {
        let owners = object.meta().owner_references.iter().flatten();
        owners.filter(|owner| owner.controller == Some(true)).map(|owner| owner.uid.clone()).collect()
    })
}
