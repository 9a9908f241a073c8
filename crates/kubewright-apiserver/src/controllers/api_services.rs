//! The `APIService`s of the served versions. The ones for built-in kinds are created at the start, and each definition
//! creates and deletes its own (the controllers `autoregister` and `crd-autoregister` of kube-apiserver).

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        object::{Object, Stored},
    },
    resource::{
        definition,
        managed_fields::{self, Author},
        metadata,
    },
    storage::{state::State, store::Event},
};

/// The resource of the objects.
const RESOURCE: &str = "apiservices.apiregistration.k8s.io";
/// The label of objects that the server manages, and its values.
const LABEL: &str = "kube-aggregator.kubernetes.io/automanaged";
const ON_START: &str = "onstart";
const CONTINUOUSLY: &str = "true";
/// The priorities of the groups of definitions and of their versions.
const GROUP_PRIORITY: i64 = 1000;
const VERSION_PRIORITY: i64 = 100;

/// The built-in versions: group, version, priority of the group and of the version.
const BUILT_IN: [(&str, &str, i64, i64); 21] = [
    ("", "v1", 18000, 1),
    ("admissionregistration.k8s.io", "v1", 16700, 15),
    ("apiextensions.k8s.io", "v1", 16700, 15),
    ("apps", "v1", 17800, 15),
    ("authentication.k8s.io", "v1", 17700, 15),
    ("authorization.k8s.io", "v1", 17600, 15),
    ("autoscaling", "v1", 17500, 15),
    ("batch", "v1", 17400, 15),
    ("certificates.k8s.io", "v1", 17300, 15),
    ("coordination.k8s.io", "v1", 16500, 15),
    ("discovery.k8s.io", "v1", 16200, 15),
    ("events.k8s.io", "v1", 17750, 15),
    ("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
    ("networking.k8s.io", "v1", 17200, 15),
    ("node.k8s.io", "v1", 16300, 15),
    ("policy", "v1", 17100, 15),
    ("rbac.authorization.k8s.io", "v1", 17000, 15),
    ("resource.k8s.io", "v1", 16200, 21),
    ("scheduling.k8s.io", "v1", 16600, 15),
    ("storage.k8s.io", "v1", 16800, 15),
    ("autoscaling", "v2", 17500, 30),
];

/// Creates the objects of the built-in versions and of the stored definitions that do not exist.
pub(crate) fn create(state: &mut State) {
    for (group, version, group_priority, version_priority) in BUILT_IN {
        let mut spec = json!({
            "version": version,
            "groupPriorityMinimum": group_priority,
            "versionPriority": version_priority,
        });
        if !group.is_empty() {
            spec["group"] = json!(group);
        }
        let name = name_of(group, version);
        if state.store.get(RESOURCE, "", &name).is_none() {
            put(state, &name, spec, ON_START, None);
        }
    }
    let definitions = state.store.list(definition::RESOURCE, None);
    let names: BTreeSet<String> = definitions.iter().flat_map(|definition| names(definition)).collect();
    names.iter().for_each(|name| sync_one(state, name));
}

/// Updates the objects of the definitions that these changes affect. Objects that clients changed or deleted are
/// restored.
pub(crate) fn sync(state: &mut State, changes: &[Arc<Event>]) {
    let mut affected = BTreeSet::new();
    for event in changes {
        let states = [&event.before, &event.after];
        match &*event.resource {
            definition::RESOURCE => affected.extend(states.into_iter().flatten().flat_map(|object| names(object))),
            RESOURCE => affected.extend(states.into_iter().flatten().map(|object| object.name().to_owned())),
            _ => {}
        }
    }
    affected.iter().for_each(|name| sync_one(state, name));
}

/// Creates, updates or removes one object.
fn sync_one(state: &mut State, name: &str) {
    let desired = desired(state, name);
    let current = state.store.get(RESOURCE, "", name);
    let is_managed = current.as_ref().is_none_or(|current| label(current) == Some(CONTINUOUSLY));
    match (desired, current) {
        (Some(spec), None) => put(state, name, spec, CONTINUOUSLY, None),
        (None, Some(_)) if is_managed => state.store.remove(RESOURCE, "", name),
        (Some(spec), Some(current)) if is_managed && current.field("spec") != Some(&spec) => {
            put(state, name, spec, CONTINUOUSLY, Some(&current));
        }
        _ => {}
    }
}

/// Returns the spec of the object for a version that a definition serves.
fn desired(state: &State, name: &str) -> Option<Value> {
    let (version, group) = name.split_once('.')?;
    let definitions = state.store.list(definition::RESOURCE, None);
    definitions.iter().any(|definition| serves(definition, group, version)).then(|| {
        json!({
            "group": group,
            "version": version,
            "groupPriorityMinimum": GROUP_PRIORITY,
            "versionPriority": VERSION_PRIORITY,
        })
    })
}

fn serves(definition: &Object, group: &str, version: &str) -> bool {
    let is_served = |entry: &Value| entry["name"] == version && entry["served"] == true;
    definition.field("spec.group").is_some_and(|other| other == group) && versions(definition).any(is_served)
}

fn versions(definition: &Object) -> impl Iterator<Item = &Value> {
    definition.field("spec.versions").and_then(Value::as_array).into_iter().flatten()
}

/// Returns the names of the objects of a definition.
fn names(definition: &Object) -> impl Iterator<Item = String> {
    let group = definition.field("spec.group").and_then(Value::as_str).unwrap_or_default();
    versions(definition).filter_map(|entry| entry["name"].as_str()).map(move |version| name_of(group, version))
}

fn name_of(group: &str, version: &str) -> String {
    [version, ".", group].concat()
}

fn label(object: &Object) -> Option<&str> {
    object.metadata.labels.as_ref()?.get(LABEL).map(String::as_str)
}

/// Stores an object with this spec, in place of the current one.
fn put(state: &mut State, name: &str, spec: Value, managed: &str, current: Option<&Stored>) {
    let Some(kind) = state.registry.of_resource(RESOURCE) else { return };
    let mut object = current.map_or_else(Object::default, |current| Object::clone(current));
    object.body.insert("spec".to_owned(), spec);
    if current.is_none() {
        object.metadata.name = Some(name.to_owned());
        object.metadata.labels.get_or_insert_default().insert(LABEL.to_owned(), managed.to_owned());
    }
    managed_fields::track(Author::server(&kind, &Endpoint::Main), current.map(|current| &**current), &mut object);
    if current.is_none() {
        metadata::fill_system_fields(kind.strategy.generation, &mut object);
        // The condition of a local service has a time, so it cannot fail.
        if (kind.strategy.prepare_for_create)(&mut object).is_err() {
            return;
        }
    }
    if kind.write(&mut object).is_ok() {
        state.store.put(RESOURCE, object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        meta::review::{self, Review},
        resource::registry::Registry,
    };

    /// kube-apiserver has no object for the group of the objects themselves.
    #[test]
    fn each_built_in_version_has_priorities() {
        let registry = Registry::new();
        let kinds = registry.iter().map(|kind| (kind.group.as_str(), kind.version.as_str()));
        let reviews = review::ALL.iter().map(|review| (review.group, Review::VERSION));
        let served: BTreeSet<_> =
            kinds.chain(reviews).filter(|(group, _)| *group != "apiregistration.k8s.io").collect();
        let listed: BTreeSet<_> = BUILT_IN.iter().map(|(group, version, ..)| (*group, *version)).collect();
        assert_eq!(listed, served);
    }
}
