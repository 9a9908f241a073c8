//! Deletion of definitions: the objects of the kind are deleted first.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::json;

use super::{serving, update_status};
use crate::{
    api::object::{Object, Stored},
    lifecycle::deletion,
    resource::{
        definition::{
            RESOURCE,
            conditions::{self, Condition, ESTABLISHED},
            set_status, spec_of, status_of,
        },
        metadata,
    },
    storage::state::State,
};

/// The finalizer of a definition until its last object is removed.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Returns a definition with a deletion timestamp, the cleanup finalizer and the condition of a pending deletion.
pub(crate) fn mark_terminating(definition: &Stored) -> Stored {
    if definition.is_terminating() {
        return definition.clone();
    }
    let mut terminating = Object::clone(definition);
    metadata::mark_deleted(&mut terminating);
    terminating.metadata.generation = definition.metadata.generation;
    terminating.metadata.deletion_grace_period_seconds = None;
    terminating.metadata.finalizers.get_or_insert_default().push(CLEANUP.to_owned());
    let mut status = status_of(definition);
    Condition::deletion_pending().put(&mut status);
    set_status(&mut terminating, json!(status));
    Arc::new(terminating)
}

/// Starts the deletion of a definition: deletes the objects of its kind, and the definition once the last object is
/// removed.
pub(crate) fn terminate(state: &mut State, definition: &Stored) -> Stored {
    if definition.is_terminating() {
        return definition.clone();
    }
    let terminating = state.store.put(RESOURCE, Object::clone(&mark_terminating(definition)));
    let updated = update_status(state, &terminating, |status| Condition::deletion_in_progress().put(status));
    serving::sync(state, &updated);
    delete_instances(state, &updated);
    terminating
}

/// Completes the deletion of a definition if no object of its kind remains.
pub(crate) fn finalize(state: &mut State, resource: &str) {
    let Some(definition) = state.store.get(RESOURCE, "", resource) else {
        return;
    };
    let has_finalizer = definition.finalizers().iter().any(|finalizer| finalizer == CLEANUP);
    if !definition.is_terminating() || !has_finalizer || !state.store.is_empty(resource) {
        return;
    }
    let mut finalized = Object::clone(&definition);
    let finalizers = finalized.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|finalizer| finalizer != CLEANUP);
    if finalizers.is_empty() {
        state.store.remove(RESOURCE, "", resource);
        serving::uninstall(state, &definition);
        return;
    }
    let updated = update_status(state, &Arc::new(finalized), |status| {
        let was_established = conditions::is_true(status, ESTABLISHED);
        let condition = if was_established { Condition::deletion_completed() } else { Condition::never_established() };
        condition.put(status);
    });
    serving::sync(state, &updated);
}

fn delete_instances(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    if let Some(kind) = state.registry.any_version(&spec.group, &spec.names.plural) {
        for object in state.store.list(&kind.group_resource(), None) {
            // An object that cannot be converted remains, and so does the definition.
            drop(deletion::delete(state, &kind, &object, &DeleteOptions::default()));
        }
    }
    finalize(state, definition.name());
}
