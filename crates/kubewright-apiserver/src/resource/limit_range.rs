//! Limit ranges: the default resources of containers, and the bounds of pods and claims, as the admission plugin
//! `LimitRanger`.

mod bounds;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::bounds::Bounds;
use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
        object::Object,
    },
    resource::{
        amounts::{self, Amounts},
        strategy::Objects,
    },
};

const RESOURCE: &str = "limitranges";
/// The annotation that lists the resources that were set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets the resources that the containers of a new pod do not specify.
pub(crate) fn default_pod(objects: &dyn Objects, pod: &mut Object) {
    for range in objects.list(RESOURCE, Some(pod.namespace())) {
        let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
        for item in items(&range).filter(|item| item["type"] == "Container") {
            requests.extend(amounts::parse(&item["defaultRequest"]));
            limits.extend(amounts::parse(&item["default"]));
        }
        let mut set = Vec::new();
        for (list, name) in [("containers", "container"), ("initContainers", "init container")] {
            let spec = pod.body.get_mut("spec").and_then(|spec| spec.get_mut(list));
            for container in spec.and_then(Value::as_array_mut).into_iter().flatten() {
                default_container(container, name, [&requests, &limits], &mut set);
            }
        }
        if !set.is_empty() {
            let text = format!("LimitRanger plugin set: {}", set.join("; "));
            pod.metadata.annotations.get_or_insert_default().insert(ANNOTATION.to_owned(), text);
        }
    }
}

/// Sets the missing requests and limits of a container, and describes them.
fn default_container(container: &mut Value, description: &str, defaults: [&Amounts; 2], set: &mut Vec<String>) {
    let name = container["name"].as_str().unwrap_or_default().to_owned();
    for (list, what, defaults) in [("requests", "request", defaults[0]), ("limits", "limit", defaults[1])] {
        let existing = &container["resources"][list];
        let missing: Vec<_> = defaults.iter().filter(|(resource, _)| existing.get(resource).is_none()).collect();
        if missing.is_empty() {
            continue;
        }
        let resources: Vec<&str> = missing.iter().map(|(resource, _)| resource.as_str()).collect();
        set.push(format!("{} {what} for {description} {name}", resources.join(", ")));
        for (resource, amount) in missing {
            container["resources"][list][resource] = json!(amount.to_string());
        }
    }
}

/// Validates a new pod, or a claim in place of `old`, against the limit ranges of its namespace. Other kinds are not
/// limited.
///
/// # Errors
/// A bound is violated.
pub(crate) fn check(objects: &dyn Objects, kind: &Kind, object: &Object, old: Option<&Object>) -> Result<()> {
    let is_limited = match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => old.is_none(),
        ("", "persistentvolumeclaims") => !old.is_some_and(Object::is_terminating),
        _ => false,
    };
    let ranges = if is_limited { objects.list(RESOURCE, Some(object.namespace())) } else { Vec::new() };
    for range in ranges {
        let errors = violations(&range, kind, object);
        let message = match errors.as_slice() {
            [] => continue,
            [error] => error.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        return Err(ApiError::forbidden(kind, object.name(), &message));
    }
    Ok(())
}

/// Returns the violated bounds of a range.
fn violations(range: &Object, kind: &Kind, object: &Object) -> Vec<String> {
    let spec = object.body.get("spec").unwrap_or(&Value::Null);
    let mut errors = Vec::new();
    for item in items(range) {
        let type_ = item["type"].as_str().unwrap_or_default();
        let bounds = Bounds { item, type_ };
        match (kind.plural.as_str(), type_) {
            ("pods", "Container") => {
                let all = ["containers", "initContainers"].into_iter();
                for container in all.flat_map(|list| amounts::containers(spec, list)) {
                    let resources = &container["resources"];
                    bounds.check(
                        &amounts::parse(&resources["requests"]),
                        &amounts::parse(&resources["limits"]),
                        &mut errors,
                    );
                }
            }
            ("pods", "Pod") => {
                bounds.check(&amounts::of_pod(spec, "requests"), &amounts::of_pod(spec, "limits"), &mut errors);
            }
            ("persistentvolumeclaims", "PersistentVolumeClaim") => {
                bounds.check_requests(&amounts::parse(&spec["resources"]["requests"]), &mut errors);
            }
            _ => {}
        }
    }
    let mut known = BTreeSet::new();
    errors.retain(|error| known.insert(error.clone()));
    errors
}

fn items(range: &Object) -> impl Iterator<Item = &Value> {
    range.field("spec.limits").and_then(Value::as_array).into_iter().flatten()
}
