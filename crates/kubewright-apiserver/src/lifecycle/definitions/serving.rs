//! Starts and stops serving the kinds of definitions, as the controllers of apiextensions-apiserver do after a write.
//!
//! This completes before the response to the write. Each step is a separate write, so that a watch receives the same
//! events as on the real server.

use std::collections::VecDeque;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionSpec;

use super::update_status;
use crate::{
    api::object::{Object, Stored},
    resource::definition::{
        RESOURCE,
        conditions::{self, Condition, ESTABLISHED, NAMES_ACCEPTED, TERMINATING},
        names::{self, UsedNames},
        spec_of, status_of,
    },
    storage::state::State,
};

/// The annotation that approves a definition in a protected group.
const APPROVED: &str = "api-approved.kubernetes.io";

/// Processes a written definition: accepts its names, updates its conditions and serves its kind.
pub(crate) fn sync(state: &mut State, definition: &Stored) {
    let Ok(spec) = spec_of(definition) else { return };
    sync_names(state, &spec.group, definition.name());
    let Some(definition) = state.store.get(RESOURCE, "", definition.name()) else { return };
    let is_protected = [".k8s.io", ".kubernetes.io"].iter().any(|domain| spec.group.ends_with(domain));
    let annotations = definition.metadata.annotations.as_ref();
    if let Some(approval) = annotations.and_then(|annotations| annotations.get(APPROVED)).filter(|_| is_protected) {
        let condition = Condition::approval(approval);
        update_status(state, &definition, |status| condition.put(status));
    }
    install(state, &definition);
}

/// Serves the kinds of all restored definitions.
#[cfg(feature = "data-dir")]
pub(crate) fn install_all(state: &mut State) {
    for definition in state.store.list(RESOURCE, None) {
        install(state, &definition);
    }
}

/// Stops serving the kind of a removed definition, and removes the remaining objects. Its names become available.
pub(crate) fn uninstall(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    for object in state.store.list(definition.name(), None) {
        state.store.remove(definition.name(), object.namespace(), object.name());
    }
    state.registry.remove(&spec.group, &spec.names.plural);
    sync_names(state, &spec.group, definition.name());
}

/// Accepts the names of a definition. If that reserves or releases names, the other definitions of the group are
/// processed as well.
fn sync_names(state: &mut State, group: &str, first: &str) {
    let mut queue = VecDeque::from([first.to_owned()]);
    if state.store.get(RESOURCE, "", first).is_none() {
        queue = others(state, group, first).collect();
    }
    // Each round reserves or releases names; the number of rounds is bounded.
    let mut rounds = others(state, group, "").count().pow(2) + 1;
    while let Some(name) = queue.pop_front().filter(|_| rounds > 0) {
        if sync_accepted_names(state, group, &name) {
            rounds -= 1;
            let others: Vec<String> = others(state, group, &name).filter(|other| !queue.contains(other)).collect();
            queue.extend(others);
        }
    }
}

/// Returns the names of the other definitions of a group.
fn others(state: &State, group: &str, name: &str) -> impl Iterator<Item = String> {
    let is_other = |definition: &Stored| {
        definition.name() != name && definition.field("spec.group").is_some_and(|other| other.as_str() == Some(group))
    };
    let names: Vec<String> = state
        .store
        .list(RESOURCE, None)
        .iter()
        .filter(|definition| is_other(definition))
        .map(|definition| definition.name().to_owned())
        .collect();
    names.into_iter()
}

/// Updates the accepted names of a definition. Returns whether the definition changed.
fn sync_accepted_names(state: &mut State, group: &str, name: &str) -> bool {
    let Some(definition) = state.store.get(RESOURCE, "", name) else { return false };
    let (Ok(spec), status) = (spec_of(&definition), status_of(&definition)) else { return false };
    let current = status.accepted_names.clone().unwrap_or_default();
    if names::are_same(&spec.names, &current) {
        return false;
    }
    let (accepted, condition) = names::accept(&spec.names, &current, &accepted_names(state, group));
    let updated = update_status(state, &definition, |status| {
        status.accepted_names = Some(accepted);
        condition.put(status);
        if conditions::is_true(status, NAMES_ACCEPTED) && !conditions::is_true(status, ESTABLISHED) {
            Condition::installing().put(status);
        } else if !conditions::has(status, ESTABLISHED) {
            Condition::not_accepted().put(status);
        }
    });
    let status = status_of(&updated);
    let is_new = conditions::is_true(&status, NAMES_ACCEPTED) && !conditions::is_true(&status, ESTABLISHED);
    let updated =
        if is_new { update_status(state, &updated, |status| Condition::established().put(status)) } else { updated };
    install(state, &updated);
    updated.resource_version() != definition.resource_version()
}

/// Returns the accepted names of all definitions of a group.
fn accepted_names(state: &State, group: &str) -> UsedNames {
    let mut taken = UsedNames::default();
    for name in others(state, group, "") {
        let names = state.store.get(RESOURCE, "", &name).and_then(|definition| status_of(&definition).accepted_names);
        names.iter().for_each(|names| taken.add(names));
    }
    taken
}

/// Serves the kind of an established definition, under its accepted names; otherwise stops serving it.
fn install(state: &mut State, definition: &Object) {
    let (Ok(spec), status) = (spec_of(definition), status_of(definition)) else { return };
    if !conditions::is_true(&status, ESTABLISHED) && !conditions::is_true(&status, NAMES_ACCEPTED) {
        return state.registry.remove(&spec.group, &spec.names.plural);
    }
    let names = status.accepted_names.clone().unwrap_or_default();
    let is_terminating = conditions::is_true(&status, TERMINATING);
    state.registry.install(CustomResourceDefinitionSpec { names, ..spec }, definition.uid(), is_terminating);
}
