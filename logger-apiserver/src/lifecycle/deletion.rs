//! Deletion: immediate, or marked as long as finalizers or a grace period remain.

mod grace;

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;

pub(crate) use self::grace::{FOREGROUND, Fate, ORPHAN, decide};
use crate::{
    api::{
        error::Result,
        object::{Object, Stored},
    },
    lifecycle::{commit, definitions, namespaces},
    resource::{namespace, registry::Resource, strategy::Lifecycle},
    storage::state::State,
};

/// The result of a delete.
pub(crate) enum Deleted {
    /// The object is removed; this was its last state.
    Gone(Stored),
    /// The object is terminating, in this state.
    Ending(Stored),
}

/// Deletes an object, as the strategy of its resource specifies.
///
/// # Errors
/// The object remains and cannot be converted to the storage version.
pub(crate) fn remove_or_mark(
    state: &mut State,
    kind: &Resource,
    object: &Stored,
    options: &DeleteOptions,
) -> Result<Deleted> {
    Ok(match kind.strategy.lifecycle {
        Lifecycle::Namespace if !namespace::is_final(object) => Deleted::Ending(namespaces::terminate(state, object)),
        Lifecycle::Definition => Deleted::Ending(definitions::terminate(state, object)),
        Lifecycle::Object | Lifecycle::Namespace | Lifecycle::CustomResource => match decide(kind, object, options) {
            Fate::Goes(ending) => Deleted::Gone(remove(state, kind, object, &ending)),
            Fate::Stays(ending) if ending == **object => Deleted::Ending(object.clone()),
            Fate::Stays(mut ending) => {
                kind.write(&mut ending)?;
                Deleted::Ending(kind.read(&state.store.put(&kind.storage_key(), &ending))?)
            }
        },
    })
}

/// Removes an object, after its final state is stored.
fn remove(state: &mut State, kind: &Resource, object: &Object, ending: &Object) -> Stored {
    if ending != object {
        state.store.put(&kind.storage_key(), ending);
    }
    commit::remove(state, kind, ending);
    Arc::new(ending.at(state.store.version()))
}
