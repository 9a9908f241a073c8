//! Deletion of definitions: the objects of the kind are deleted first.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::json;

use super::{serving, tell};
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

/// Returns a definition in the state that its deletion stores.
pub(crate) fn ending(definition: &Stored) -> Stored {
    if definition.is_terminating() {
        return definition.clone();
    }
    let mut ending = Object::clone(definition);
    metadata::mark_deleted(&mut ending);
    ending.metadata.generation = definition.metadata.generation;
    ending.metadata.deletion_grace_period_seconds = None;
    ending.metadata.finalizers.get_or_insert_default().push(CLEANUP.to_owned());
    let mut status = status_of(definition);
    Condition::deletion_pending().put(&mut status);
    set_status(&mut ending, json!(status));
    Arc::new(ending)
}

/// Starts the deletion of a definition: deletes the objects of its kind, and the definition once the last object is
/// removed.
pub(crate) fn terminate(state: &mut State, definition: &Stored) -> Stored {
    if definition.is_terminating() {
        return definition.clone();
    }
    let ending = state.store.put(RESOURCE, &ending(definition));
    let told = tell(state, &ending, |status| Condition::deletion_in_progress().put(status));
    serving::follow(state, &told);
    delete_instances(state, &told);
    ending
}

/// Completes the deletion of a definition if no object of its kind remains.
pub(crate) fn finish(state: &mut State, resource: &str) {
    let Some(definition) = state.store.get(RESOURCE, "", resource) else {
        return;
    };
    let is_held = definition.finalizers().iter().any(|finalizer| finalizer == CLEANUP);
    if !definition.is_terminating() || !is_held || !state.store.is_empty(resource) {
        return;
    }
    let mut emptied = Object::clone(&definition);
    let finalizers = emptied.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|finalizer| finalizer != CLEANUP);
    if finalizers.is_empty() {
        state.store.remove(RESOURCE, "", resource);
        serving::withdraw(state, &definition);
        return;
    }
    let told = tell(state, &Arc::new(emptied), |status| {
        let was_established = conditions::is_true(status, ESTABLISHED);
        let condition = if was_established { Condition::deletion_completed() } else { Condition::never_established() };
        condition.put(status);
    });
    serving::follow(state, &told);
}

fn delete_instances(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    if let Some(kind) = state.registry.any_version(&spec.group, &spec.names.plural) {
        for object in state.store.list(&kind.group_resource(), None) {
            // An object that cannot be converted remains, and so does the definition.
            drop(deletion::remove_or_mark(state, &kind, &object, &DeleteOptions::default()));
        }
    }
    finish(state, definition.name());
}
