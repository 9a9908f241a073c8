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

/// Deletes the contents of a terminating namespace. A namespace without contents can be removed.
pub(super) fn empty(state: &mut State, name: &str) {
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
    let left = contents(state, name);
    let Some(namespace) = find(state) else { return };
    let mut ending = Object::clone(&namespace);
    if left.is_empty() {
        let finalizers = ending.body.get_mut("spec").and_then(|spec| spec.get_mut("finalizers"));
        finalizers.and_then(Value::as_array_mut).into_iter().for_each(|finalizers| {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        });
    }
    tell(&mut ending, &left);
    if ending != *namespace {
        commit::commit(state, &Resource::namespace(), &ending);
    }
}

/// Returns all objects in a namespace, kind by kind, each once.
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

/// Sets the conditions that report what the deletion waits for.
fn tell(namespace: &mut Object, left: &[(Arc<Resource>, Stored)]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, object) in left {
        // The message names the group after a dot, also if the group is empty.
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
            remaining.map(|why| ("SomeResourcesRemain", why)),
            "ContentRemoved",
            "All content successfully removed",
        ),
        (
            "NamespaceFinalizersRemaining",
            holding.map(|why| ("SomeFinalizersRemain", why)),
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ];
    let status = namespace.body.entry("status").or_insert_with(|| Value::from(Map::new()));
    if !status.is_object() {
        *status = json!({});
    }
    let old = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let told = conditions.into_iter().map(|(type_, trouble, reason, message)| {
        let (flag, reason, message) = match trouble {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", reason, message.to_owned()),
        };
        let known = old.iter().find(|known| known["type"] == type_ && known["status"] == flag);
        let since = known.map_or_else(|| json!(now()), |known| known["lastTransitionTime"].clone());
        json!({ "type": type_, "status": flag, "reason": reason, "message": message, "lastTransitionTime": since })
    });
    status["conditions"] = told.collect();
}
