//! Deletion: immediate, or graceful while finalizers or a grace period remain.

mod grace;

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;

pub(crate) use self::grace::{DeleteOutcome, FOREGROUND, ORPHAN, before_delete};
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
    Removed(Stored),
    /// The object is terminating, in this state.
    Terminating(Stored),
}

/// Deletes an object.
///
/// # Errors
/// As [`complete`].
pub(crate) fn delete(state: &mut State, kind: &Resource, object: &Stored, options: &DeleteOptions) -> Result<Deleted> {
    complete(state, kind, object, before_delete(kind, object, options))
}

/// Completes a deletion with the outcome of [`before_delete`], as the strategy of the resource specifies.
///
/// # Errors
/// The object remains and cannot be converted to the storage version.
pub(crate) fn complete(state: &mut State, kind: &Resource, object: &Stored, outcome: DeleteOutcome) -> Result<Deleted> {
    Ok(match kind.strategy.lifecycle {
        Lifecycle::Namespace if !namespace::is_final(object) => {
            Deleted::Terminating(namespaces::terminate(state, object))
        }
        Lifecycle::Definition => Deleted::Terminating(definitions::terminate(state, object)),
        Lifecycle::Object | Lifecycle::Namespace | Lifecycle::CustomResource => match outcome {
            DeleteOutcome::Remove(terminating) => Deleted::Removed(remove(state, kind, object, &terminating)),
            DeleteOutcome::Update(terminating) if terminating == **object => Deleted::Terminating(object.clone()),
            DeleteOutcome::Update(mut terminating) => {
                kind.write(&mut terminating)?;
                Deleted::Terminating(kind.read(&state.store.put(&kind.storage_key(), terminating))?)
            }
        },
    })
}

/// Converts what a deletion stores, so that a webhook is called before the state is locked.
///
/// # Errors
/// Those of the deletion.
pub(crate) fn convert(kind: &Resource, outcome: &DeleteOutcome) -> Result<()> {
    let DeleteOutcome::Update(terminating) = outcome else { return Ok(()) };
    let mut terminating = terminating.clone();
    kind.write(&mut terminating)?;
    kind.read(&Arc::new(terminating)).map(drop)
}

/// Removes an object, after its final state is stored.
fn remove(state: &mut State, kind: &Resource, object: &Object, terminating: &Object) -> Stored {
    if terminating != object {
        state.store.put(&kind.storage_key(), terminating.clone());
    }
    commit::remove(state, kind, terminating);
    Arc::new(terminating.with_resource_version(state.store.version()))
}
