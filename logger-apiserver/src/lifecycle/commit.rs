//! Stores and removes objects, with what follows from that by kind.

use std::sync::Arc;

use crate::{
    api::object::{Object, Stored},
    lifecycle::definitions,
    resource::{namespace, registry::Resource, strategy::Lifecycle},
    storage::state::State,
};

/// Stores an object in another state; if that was all it was there for, it goes.
pub(crate) fn commit(state: &mut State, kind: &Resource, object: &Object) -> Stored {
    if object.has_ended() && (kind.strategy.lifecycle != Lifecycle::Namespace || namespace::is_final(object)) {
        remove(state, kind, object);
        return Arc::new(object.clone());
    }
    store(state, kind, object)
}

/// Stores an object, and lets a definition take effect.
pub(crate) fn store(state: &mut State, kind: &Resource, object: &Object) -> Stored {
    let stored = state.store.put(&kind.storage_key(), object);
    if kind.strategy.lifecycle == Lifecycle::Definition {
        definitions::follow(state, &stored);
    }
    stored
}

/// Takes an object out, with what hangs on it.
pub(crate) fn remove(state: &mut State, kind: &Resource, object: &Object) {
    let resource = kind.group_resource();
    state.store.remove(&kind.storage_key(), object.namespace(), object.name());
    match kind.strategy.lifecycle {
        Lifecycle::CustomResource => definitions::finish(state, &resource),
        Lifecycle::Definition => definitions::withdraw(state, object),
        Lifecycle::Namespace | Lifecycle::Object => {}
    }
}
