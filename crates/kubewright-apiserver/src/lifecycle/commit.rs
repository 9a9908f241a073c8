//! Stores and removes objects, with the effects that depend on the kind.

use std::sync::Arc;

use crate::{
    api::object::{Object, Stored},
    lifecycle::definitions,
    resource::{namespace, registry::Resource, strategy::Lifecycle},
    storage::state::State,
};

/// Stores a changed object. An object whose deletion is complete is removed instead.
pub(crate) fn commit(state: &mut State, kind: &Resource, object: Object) -> Stored {
    if object.should_delete() && (kind.strategy.lifecycle != Lifecycle::Namespace || namespace::is_final(&object)) {
        remove(state, kind, &object);
        return Arc::new(object);
    }
    store(state, kind, object)
}

/// Stores an object. A stored definition takes effect.
pub(crate) fn store(state: &mut State, kind: &Resource, object: Object) -> Stored {
    let stored = state.store.put(&kind.storage_key(), object);
    if kind.strategy.lifecycle == Lifecycle::Definition {
        definitions::sync(state, &stored);
    }
    stored
}

/// Removes an object. Removing a definition stops serving its kind; removing the last object of a custom kind completes
/// the deletion of a terminating definition.
pub(crate) fn remove(state: &mut State, kind: &Resource, object: &Object) {
    let resource = kind.group_resource();
    state.store.remove(&kind.storage_key(), object.namespace(), object.name());
    match kind.strategy.lifecycle {
        Lifecycle::CustomResource => definitions::finalize(state, &resource),
        Lifecycle::Definition => definitions::uninstall(state, object),
        Lifecycle::Namespace | Lifecycle::Object => {}
    }
}
