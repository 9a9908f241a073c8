//! How the kind of a definition comes into service and goes out of it: what the controllers of the real server do after a write
//!
//! It is done before the write is answered, each step a write of its own, as a watch sees them on the real server.

use std::collections::VecDeque;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionSpec;

use super::tell;
use crate::{
    api::object::{Object, Stored},
    resource::definition::{
        RESOURCE,
        conditions::{self, Condition, ESTABLISHED, NAMES_ACCEPTED, TERMINATING},
        names::{self, Taken},
        spec_of, status_of,
    },
    storage::state::State,
};

/// Says who approved of a group of Kubernetes.
const APPROVED: &str = "api-approved.kubernetes.io";

/// Does what follows from a definition that was written: it is given names, told of, and its kind is put in service.
pub(crate) fn follow(state: &mut State, definition: &Stored) {
    let Ok(spec) = spec_of(definition) else { return };
    settle_names(state, &spec.group, definition.name());
    let Some(definition) = state.store.get(RESOURCE, "", definition.name()) else { return };
    let is_protected = [".k8s.io", ".kubernetes.io"].iter().any(|domain| spec.group.ends_with(domain));
    let annotations = definition.metadata.annotations.as_ref();
    if let Some(approval) = annotations.and_then(|annotations| annotations.get(APPROVED)).filter(|_| is_protected) {
        let condition = Condition::approval(approval);
        tell(state, &definition, |status| condition.put(status));
    }
    install(state, &definition);
}

/// Puts the kinds of all definitions in service that have been before.
#[cfg(feature = "serve")]
pub(crate) fn reinstall(state: &mut State) {
    for definition in state.store.list(RESOURCE, None) {
        install(state, &definition);
    }
}

/// Takes the kind of a definition that is gone out of service, with whatever objects are left of it. Its names are free.
pub(crate) fn withdraw(state: &mut State, definition: &Object) {
    let Ok(spec) = spec_of(definition) else { return };
    for object in state.store.list(definition.name(), None) {
        state.store.remove(definition.name(), object.namespace(), object.name());
    }
    state.registry.remove(&spec.group, &spec.names.plural);
    settle_names(state, &spec.group, definition.name());
}

/// Gives a definition the names it wants; if that frees or takes some, the others of its group are looked at, too.
fn settle_names(state: &mut State, group: &str, first: &str) {
    let mut waiting = VecDeque::from([first.to_owned()]);
    if state.store.get(RESOURCE, "", first).is_none() {
        waiting = others(state, group, first).collect();
    }
    // Each round gives or frees names; whatever those want from each other, it ends.
    let mut rounds = others(state, group, "").count().pow(2) + 1;
    while let Some(name) = waiting.pop_front().filter(|_| rounds > 0) {
        if give_names(state, group, &name) {
            rounds -= 1;
            let others: Vec<String> = others(state, group, &name).filter(|other| !waiting.contains(other)).collect();
            waiting.extend(others);
        }
    }
}

/// The definitions of a group but one.
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

/// Whether that changed something.
fn give_names(state: &mut State, group: &str, name: &str) -> bool {
    let Some(definition) = state.store.get(RESOURCE, "", name) else { return false };
    let (Ok(spec), status) = (spec_of(&definition), status_of(&definition)) else { return false };
    let has = status.accepted_names.clone().unwrap_or_default();
    if names::are_same(&spec.names, &has) {
        return false;
    }
    let (given, condition) = names::accept(&spec.names, &has, &taken(state, group));
    let told = tell(state, &definition, |status| {
        status.accepted_names = Some(given);
        condition.put(status);
        if conditions::is_true(status, NAMES_ACCEPTED) && !conditions::is_true(status, ESTABLISHED) {
            Condition::installing().put(status);
        } else if !conditions::has(status, ESTABLISHED) {
            Condition::not_accepted().put(status);
        }
    });
    let status = status_of(&told);
    let is_new = conditions::is_true(&status, NAMES_ACCEPTED) && !conditions::is_true(&status, ESTABLISHED);
    let told = if is_new { tell(state, &told, |status| Condition::established().put(status)) } else { told };
    install(state, &told);
    told.resource_version() != definition.resource_version()
}

/// What the definitions of a group have.
fn taken(state: &State, group: &str) -> Taken {
    let mut taken = Taken::default();
    for name in others(state, group, "") {
        let names = state.store.get(RESOURCE, "", &name).and_then(|definition| status_of(&definition).accepted_names);
        names.iter().for_each(|names| taken.add(names));
    }
    taken
}

/// Serves what is established, under the names it was given, and nothing else.
fn install(state: &mut State, definition: &Object) {
    let (Ok(spec), status) = (spec_of(definition), status_of(definition)) else { return };
    if !conditions::is_true(&status, ESTABLISHED) && !conditions::is_true(&status, NAMES_ACCEPTED) {
        return state.registry.remove(&spec.group, &spec.names.plural);
    }
    let names = status.accepted_names.clone().unwrap_or_default();
    let is_ending = conditions::is_true(&status, TERMINATING);
    state.registry.install(CustomResourceDefinitionSpec { names, ..spec }, definition.uid(), is_ending);
}
