//! Objects that a reconciled object owns.

use std::sync::Arc;

use logger_core::{apply::ApplyConfiguration, verbs};

use super::object::Context;
use crate::{
    client::ScopedObject,
    error::Error,
    object::{ApiObject, resource_name},
};

impl<S> Context<S> {
    /// Applies an object that another one owns as its controller, as the [field manager](Self::field_manager) of this
    /// controller. The owner must be in the same namespace, or cluster-scoped. An apply that changes nothing is not sent,
    /// as with [`apply`](Self::apply).
    ///
    /// # Errors
    /// Fails if the owner has no UID, so that it does not come from a server, the object is in another namespace than
    /// the owner, or the request fails.
    pub async fn apply_owned<O, C>(&self, owner: &O, configuration: C) -> Result<Arc<C::Kind>, Error>
    where
        O: ApiObject,
        C: ApplyConfiguration<Kind: ScopedObject + verbs::Apply> + Sync,
    {
        let reference = owner.controller_owner_ref(&());
        let reference = reference.ok_or_else(|| Error::missing_name("apply", resource_name::<O>()))?;
        let configuration = configuration.with_owner_reference(reference);
        let metadata = configuration.metadata();
        if let (Some(namespace), Some(requested)) = (owner.meta().namespace.as_deref(), metadata.namespace())
            && namespace != requested
        {
            let error = Error::namespace_mismatch("apply", resource_name::<C::Kind>(), metadata.name(), requested);
            return Err(error.with_namespace(Some(namespace)));
        }
        self.apply(&configuration).await
    }
}
