//! Stores and removes objects, with the effects that depend on the kind.

use std::sync::Arc;

use crate::{
    api::object::{Object, Stored},
    lifecycle::definitions,
    resource::{namespace, registry::Resource, strategy::Lifecycle},
    storage::state::State,
};

/// Stores a changed object. An object whose deletion is complete is removed instead.
pub(crate) fn commit(state: &mut State, kind: &Resource, object: &Object) -> Stored {
    if object.has_ended() && (kind.strategy.lifecycle != Lifecycle::Namespace || namespace::is_final(object)) {
        remove(state, kind, object);
        return Arc::new(object.clone());
    }
    store(state, kind, object)
}

/// Stores an object. A definition takes effect.
pub(crate) fn store(state: &mut State, kind: &Resource, object: &Object) -> Stored {
    let stored = state.store.put(&kind.storage_key(), object);
    if kind.strategy.lifecycle == Lifecycle::Definition {
        definitions::follow(state, &stored);
    }
    stored
}

/// Removes an object. The removal of a definition, or of the last object of a custom kind, takes effect.
pub(crate) fn remove(state: &mut State, kind: &Resource, object: &Object) {
    let resource = kind.group_resource();
    state.store.remove(&kind.storage_key(), object.namespace(), object.name());
    match kind.strategy.lifecycle {
        Lifecycle::CustomResource => definitions::finish(state, &resource),
        Lifecycle::Definition => definitions::withdraw(state, object),
        Lifecycle::Namespace | Lifecycle::Object => {}
    }
}
