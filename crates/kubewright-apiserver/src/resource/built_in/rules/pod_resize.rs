//! Validation of `/resize` and `/ephemeralcontainers` of pods (`ValidatePodResize`,
//! `ValidatePodEphemeralContainersUpdate`).

use kubewright_crd::quantity::Quantity;
use serde_json::{Map, Value, json};

use super::{Errors, FieldValue};
use crate::{
    api::{error::FieldError, object::Object},
    resource::built_in::defaults,
};

/// The annotation of pods that a kubelet created from a file.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The resources that can be resized.
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
/// The path of errors that refer to the complete object.
const OBJECT: &str = "[]";
const ONLY_RESIZABLE: &str = "only cpu and memory resources are mutable";

/// Validates an update of the ephemeral containers: existing ones are immutable.
pub(super) fn ephemeral_containers(new: &Object, old: &Object, errors: &mut Errors) {
    if is_mirror(old) {
        *errors = vec![FieldError::forbidden(OBJECT, "static pods do not support ephemeral containers")];
        return;
    }
    let list = FieldValue::new(new, "spec").at("ephemeralContainers");
    for old in FieldValue::new(old, "spec").at("ephemeralContainers").items() {
        let name = old.at("name");
        match list.items().find(|new| new.value["name"] == *name.value) {
            None => {
                let detail = format!("existing ephemeral containers {:?} may not be removed\n", name.text());
                errors.push(list.forbidden(detail));
            }
            Some(new) if new.value != old.value => {
                let detail = format!("existing ephemeral containers {:?} may not be changed\n", name.text());
                errors.push(list.forbidden(detail));
            }
            Some(_) => {}
        }
    }
}

/// Validates a resize: the requests and limits of CPU and memory are mutable. Returns whether the pod can be resized at
/// all.
pub(super) fn resize(new: &Object, old: &Object, errors: &mut Errors) -> bool {
    let (new_spec, old_spec) = (FieldValue::new(new, "spec"), FieldValue::new(old, "spec"));
    let is_windows = old_spec.at("os").at("name").text() == "windows";
    for (is_unsupported, detail) in
        [(is_mirror(old), "static pods cannot be resized"), (is_windows, "windows pods cannot be resized")]
    {
        if is_unsupported {
            errors.push(FieldError::forbidden(OBJECT, detail));
            return false;
        }
    }
    quality_of_service(new, old, errors);
    if !is_supported(&FieldValue::new(old, "status")) {
        errors.push(new_spec.forbidden("Pod running on node without support for resize"));
    }
    pod_resources(&new_spec, &old_spec, errors);
    if !FieldValue::new(old, "status").at("nodeAllocatableResourceClaimStatuses").is_empty() {
        errors.push(new_spec.forbidden("pods with node allocatable resource claims cannot be resized"));
    }
    if !has_same_containers(&new_spec, &old_spec, errors) {
        return true;
    }
    for list in ["initContainers", "containers"] {
        for (new, old) in new_spec.at(list).items().zip(old_spec.at(list).items()) {
            removed(&new.at("resources"), &old.at("resources"), "resource", errors);
        }
    }
    containers(&new_spec, &old_spec, errors);
    init_containers(&new_spec, &old_spec, errors);
    let rest = |spec: &FieldValue<'_>| without(spec.value, &["containers", "initContainers", "resources"]);
    if errors.is_empty() && rest(&new_spec) != rest(&old_spec) {
        errors.push(new_spec.forbidden(ONLY_RESIZABLE));
    }
    true
}

fn is_mirror(pod: &Object) -> bool {
    pod.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR))
}

fn quality_of_service(new: &Object, old: &Object, errors: &mut Errors) {
    let spec = FieldValue::new(new, "spec");
    let class = FieldValue::new(old, "status").at("qosClass");
    let is_same = if class.is_empty() {
        defaults::quality_of_service(spec.value) == defaults::quality_of_service(FieldValue::new(old, "spec").value)
    } else {
        class.text() == defaults::quality_of_service(spec.value)
    };
    if !is_same {
        let class = FieldValue { path: spec.path, value: class.value };
        errors.push(class.invalid_text("Pod QOS Class may not change as a result of resizing"));
    }
}

/// Returns whether the node supports resizing: it then reports the resources of running containers.
fn is_supported(status: &FieldValue<'_>) -> bool {
    let mut running = status.at("containerStatuses").items().filter(|status| status.at("state").at("running").is_set());
    running.next().is_none_or(|status| status.at("resources").is_set())
}

/// Validates the resources of the pod itself.
fn pod_resources(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    let (new_resources, old_resources) = (new.at("resources"), old.at("resources"));
    let is_set =
        |resources: &FieldValue<'_>| !resources.at("requests").is_empty() || !resources.at("limits").is_empty();
    if !is_set(&new_resources) && !is_set(&old_resources) {
        return;
    }
    if old_resources.is_set() && !new_resources.is_set() {
        return errors.push(new_resources.forbidden("pod-level resources cannot be removed"));
    }
    removed(&new_resources, &old_resources, "pod-level resource", errors);
    if fixed_resources(&new_resources) != fixed_resources(&old_resources) {
        errors.push(new.forbidden("only cpu and memory resources are mutable at pod-level"));
    }
}

/// Validates that requests and limits are not removed.
fn removed(new: &FieldValue<'_>, old: &FieldValue<'_>, what: &str, errors: &mut Errors) {
    for list in ["requests", "limits"] {
        let (new, old) = (new.at(list), old.at(list));
        if old.entries().any(|(name, _)| !new.at(name).is_set()) {
            errors.push(new.forbidden(format!("{what} {list} cannot be removed")));
        }
    }
}

/// Validates that containers are neither added nor removed, renamed or reordered. Returns whether that holds.
fn has_same_containers(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) -> bool {
    let count = errors.len();
    for list in ["containers", "initContainers"] {
        let (new, old) = (new.at(list), old.at(list));
        if new.items().count() != old.items().count() {
            errors.push(new.forbidden(format!("{list} may not be added or removed on resize")));
            continue;
        }
        for (new, old) in new.items().zip(old.items()) {
            if new.value["name"] != old.value["name"] {
                errors.push(new.at("name").forbidden(format!("{list} may not be renamed or reordered on resize")));
            }
        }
    }
    errors.len() == count
}

fn containers(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    for (container, old) in new.at("containers").items().zip(old.at("containers").items()) {
        if fixed_part(&container) != fixed_part(&old) {
            errors.push(new.forbidden(ONLY_RESIZABLE));
        }
    }
}

fn init_containers(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    for (new, old) in new.at("initContainers").items().zip(old.at("initContainers").items()) {
        if fixed_part(&new) != fixed_part(&old) {
            errors.push(new.forbidden("only cpu and memory resources for init or sidecar containers are mutable"));
        }
        let is_sidecar = new.at("restartPolicy").text() == "Always";
        if is_sidecar || new.value == old.value {
            continue;
        }
        for policy in new.at("resizePolicy").items() {
            if policy.at("restartPolicy").text() == "RestartContainer" {
                let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                errors.push(new.forbidden(detail));
            }
        }
    }
}

/// Returns the immutable part of a container: everything but CPU and memory.
fn fixed_part(container: &FieldValue<'_>) -> Map<String, Value> {
    let mut fields = without(container.value, &["resources"]);
    fields.insert("resources".to_owned(), fixed_resources(&container.at("resources")));
    fields
}

/// Returns the requests and limits that cannot be resized, as amounts.
fn fixed_resources(resources: &FieldValue<'_>) -> Value {
    let mut fixed = Map::new();
    for list in ["requests", "limits"] {
        let amount =
            |value: &Value| Quantity::from_json(value).map_or(Value::Null, |amount| json!(amount.nanos().to_string()));
        let entries = resources.value[list].as_object().into_iter().flatten();
        let entries = entries.filter(|(name, _)| !RESIZABLE.contains(&name.as_str()));
        fixed.insert(list.to_owned(), entries.map(|(name, value)| (name.clone(), amount(value))).collect());
    }
    Value::Object(fixed)
}

fn without(value: &Value, names: &[&str]) -> Map<String, Value> {
    let mut fields = value.as_object().cloned().unwrap_or_default();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    fields
}
