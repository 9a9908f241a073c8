//! What `/resize` and `/ephemeralcontainers` of a pod change: all other changes are dropped
//! (`dropNonResizeUpdates`, `dropNonEphemeralContainerUpdates`).

use serde_json::Value;

use crate::api::{
    endpoint::{Endpoint, PodSubresource},
    object::Object,
};

const EPHEMERAL_CONTAINERS: &str = "ephemeralContainers";

/// Restores what an update of a pod at an endpoint does not change. Other endpoints change nothing here.
pub(crate) fn drop_other_changes(endpoint: &Endpoint, new: &mut Object, old: &Object) {
    match endpoint {
        Endpoint::Pod(PodSubresource::EphemeralContainers) => drop_all_but_ephemeral_containers(new, old),
        Endpoint::Pod(PodSubresource::Resize) => drop_all_but_resources(new, old),
        _ => {}
    }
}

fn drop_all_but_ephemeral_containers(new: &mut Object, old: &Object) {
    let containers = new.body.get_mut("spec").and_then(|spec| spec.get_mut(EPHEMERAL_CONTAINERS)).map(Value::take);
    restore(new, old);
    if let Some(Value::Object(spec)) = new.body.get_mut("spec") {
        match containers.filter(|containers| !containers.is_null()) {
            Some(containers) => spec.insert(EPHEMERAL_CONTAINERS.to_owned(), containers),
            None => spec.remove(EPHEMERAL_CONTAINERS),
        };
    }
}

/// Containers that were added, removed, renamed or reordered remain, so that the validation rejects them.
fn drop_all_but_resources(new: &mut Object, old: &Object) {
    const LISTS: [&str; 2] = ["containers", "initContainers"];
    let list = |object: &Object, name: &str| -> Vec<Value> {
        let list = object.body.get("spec").and_then(|spec| spec.get(name)).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    if LISTS.iter().any(|name| list(new, name).len() != list(old, name).len()) {
        return;
    }
    let containers = LISTS.map(|name| (name, resized(list(new, name), list(old, name))));
    let resources = new.body.get("spec").and_then(|spec| spec.get("resources")).cloned();
    restore(new, old);
    let Some(Value::Object(spec)) = new.body.get_mut("spec") else { return };
    match resources {
        Some(resources) => spec.insert("resources".to_owned(), resources),
        None => spec.remove("resources"),
    };
    for (name, containers) in containers.into_iter().filter(|(_, containers)| !containers.is_empty()) {
        spec.insert(name.to_owned(), Value::Array(containers));
    }
}

/// Returns the old containers with the new resources and resize policies.
fn resized(new: Vec<Value>, old: Vec<Value>) -> Vec<Value> {
    if new.iter().zip(&old).any(|(new, old)| new["name"] != old["name"]) {
        return new;
    }
    let resize = |(new, mut old): (&Value, Value)| {
        for name in ["resources", "resizePolicy"] {
            if let Value::Object(fields) = &mut old {
                match new.get(name).cloned() {
                    Some(value) => fields.insert(name.to_owned(), value),
                    None => fields.remove(name),
                };
            }
        }
        old
    };
    new.iter().zip(old).map(resize).collect()
}

/// Restores the spec, the status and the metadata apart from the managed fields.
fn restore(new: &mut Object, old: &Object) {
    let managed_fields = new.metadata.managed_fields.take();
    let version = new.metadata.resource_version.take();
    new.metadata = old.metadata.clone();
    new.metadata.managed_fields = managed_fields;
    new.metadata.resource_version = version;
    new.body.clone_from(&old.body);
}
