//! Deletes the contents of terminating namespaces.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::{Map, Value, json};

use crate::{
    api::object::{Object, Stored, now},
    lifecycle::{commit, deletion},
    resource::registry::Resource,
    storage::state::State,
};

const FINALIZER: &str = "kubernetes";

/// Deletes the contents of a terminating namespace, and the namespace once it has no contents.
pub(super) fn delete_contents(state: &mut State, name: &str) {
    let find = |state: &State| state.store.get("namespaces", "", name).filter(|namespace| namespace.is_terminating());
    if find(state).is_none() {
        return;
    }
    for (kind, object) in contents(state, name) {
        if !object.is_terminating() {
            let policy = Some("Background".to_owned());
            let options = DeleteOptions { propagation_policy: policy, ..DeleteOptions::default() };
            // An object that cannot be converted remains, and so does the namespace.
            drop(deletion::delete(state, &kind, &object, &options));
        }
    }
    let remaining = contents(state, name);
    let Some(namespace) = find(state) else { return };
    let mut terminating = Object::clone(&namespace);
    if remaining.is_empty() {
        let finalizers = terminating.body.get_mut("spec").and_then(|spec| spec.get_mut("finalizers"));
        finalizers.and_then(Value::as_array_mut).into_iter().for_each(|finalizers| {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        });
    }
    set_conditions(&mut terminating, &remaining);
    if terminating != *namespace {
        commit::commit(state, &Resource::namespace(), terminating);
    }
}

/// Returns all objects in a namespace by kind, without duplicates.
fn contents(state: &State, name: &str) -> Vec<(Arc<Resource>, Stored)> {
    let kinds: BTreeMap<String, &Arc<Resource>> = state
        .registry
        .iter()
        .filter(|kind| kind.namespaced && kind.storage_key() == kind.group_resource())
        .map(|kind| (kind.group_resource(), kind))
        .collect();
    let objects = |(resource, kind): (String, &Arc<Resource>)| {
        let kind = Arc::clone(kind);
        state.store.list(&resource, Some(name)).into_iter().map(move |object| (kind.clone(), object))
    };
    kinds.into_iter().flat_map(objects).collect()
}

/// Sets the conditions that report the progress of the deletion.
fn set_conditions(namespace: &mut Object, contents: &[(Arc<Resource>, Stored)]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, object) in contents {
        // The message has a dot before the group, even if the group is empty.
        *counts.entry(format!("{}.{}", kind.plural, kind.group)).or_default() += 1;
        object.finalizers().iter().for_each(|finalizer| *finalizers.entry(finalizer).or_default() += 1);
    }
    let has = |(what, number): (&String, &usize)| format!("{what} has {number} resource instances");
    let holds = |(what, number): (&&str, &usize)| format!("{what} in {number} resource instances");
    let remaining: Vec<String> = counts.iter().map(has).collect();
    let holding: Vec<String> = finalizers.iter().map(holds).collect();
    let remaining = (!remaining.is_empty()).then(|| format!("Some resources are remaining: {}", remaining.join(", ")));
    let holding = (!holding.is_empty())
        .then(|| format!("Some content in the namespace has finalizers remaining: {}", holding.join(", ")));
    let conditions = [
        ("NamespaceDeletionDiscoveryFailure", None, "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            None,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            remaining.map(|message| ("SomeResourcesRemain", message)),
            "ContentRemoved",
            "All content successfully removed",
        ),
        (
            "NamespaceFinalizersRemaining",
            holding.map(|message| ("SomeFinalizersRemain", message)),
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ];
    let status = namespace.body.entry("status").or_insert_with(|| Value::from(Map::new()));
    if !status.is_object() {
        *status = json!({});
    }
    let old = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let updated = conditions.into_iter().map(|(type_, failure, reason, message)| {
        let (status, reason, message) = match failure {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", reason, message.to_owned()),
        };
        let unchanged = old.iter().find(|old| old["type"] == type_ && old["status"] == status);
        let transition_time = unchanged.map_or_else(|| json!(now()), |old| old["lastTransitionTime"].clone());
        json!({
            "type": type_,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": transition_time,
        })
    });
    status["conditions"] = updated.collect();
}
