//! Validation of pod updates: images, the deadline, tolerations and scheduling gates are mutable.

use serde_json::{Map, Value};

use super::{Errors, FieldValue};
use crate::api::object::Object;

/// The error for any other change. The real server appends a diff.
const IMMUTABLE_FIELDS: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

/// Validates an update of a pod.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let (new_status, old_status) =
        (FieldValue::new(new, "status").at("qosClass"), FieldValue::new(old, "status").at("qosClass"));
    if old_status.is_set() && new_status.value != old_status.value {
        errors.push(new_status.invalid("field is immutable"));
    }
    let (new, old) = (FieldValue::new(new, "spec"), FieldValue::new(old, "spec"));
    for list in ["containers", "initContainers"] {
        if count(&new.at(list)) != count(&old.at(list)) {
            return errors.push(new.at(list).forbidden("pod updates may not add or remove containers"));
        }
    }
    for image in ["containers", "initContainers"]
        .iter()
        .flat_map(|list| new.at(list).items())
        .map(|container| container.at("image"))
    {
        errors.extend(Some(image).filter(FieldValue::is_empty).map(|image| image.required("")));
    }
    if !deadline(&new.at("activeDeadlineSeconds"), &old.at("activeDeadlineSeconds"), errors) {
        return;
    }
    tolerations(&new.at("tolerations"), &old.at("tolerations"), errors);
    gates(&new.at("schedulingGates"), &old.at("schedulingGates"), errors);
    if immutable_part(&new, &old) != immutable_part(&old, &old) {
        errors.push(new.forbidden(IMMUTABLE_FIELDS));
    }
}

fn count(list: &FieldValue<'_>) -> usize {
    list.items().count()
}

/// Validates the deadline: it can be added and shortened. Returns whether the validation continues.
fn deadline(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) -> bool {
    match (new.value.as_i64(), old.value.as_i64()) {
        (Some(seconds), Some(old_seconds)) if seconds > old_seconds => {
            errors.push(new.invalid("must be less than or equal to previous value"));
            false
        }
        (None, Some(_)) => {
            errors.push(new.invalid("must not update from a positive integer to nil value"));
            true
        }
        _ => true,
    }
}

/// Validates the tolerations: existing ones are immutable except for their duration.
fn tolerations(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    let without_duration = |toleration: FieldValue<'_>| without(toleration.value, &["tolerationSeconds"]);
    let new_tolerations: Vec<_> = new.items().map(without_duration).collect();
    if old.items().map(without_duration).any(|toleration| !new_tolerations.contains(&toleration)) {
        errors.push(new.forbidden("existing toleration can not be modified except its tolerationSeconds"));
    }
}

/// Validates the scheduling gates: they can only be removed.
fn gates(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    let existing: Vec<&str> = old.items().map(|gate| gate.at("name").text()).collect();
    for name in new.items().map(|gate| gate.at("name")).filter(|name| !existing.contains(&name.text())) {
        let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", name.text());
        errors.push(name.forbidden(detail));
    }
}

/// Returns the immutable part of a spec.
fn immutable_part(spec: &FieldValue<'_>, old: &FieldValue<'_>) -> Map<String, Value> {
    let mut spec_fields = without(spec.value, &["activeDeadlineSeconds", "tolerations", "schedulingGates"]);
    for list in ["containers", "initContainers"] {
        let containers = spec.at(list).items().map(|container| Value::Object(without(container.value, &["image"])));
        spec_fields.insert(list.to_owned(), containers.collect());
    }
    let grace = "terminationGracePeriodSeconds";
    if old.at(grace).value.as_i64().is_some_and(|seconds| seconds < 0) && spec.at(grace).value == 1 {
        spec_fields.insert(grace.to_owned(), old.at(grace).value.clone());
    }
    // The node selector and the affinity are mutable while the pod is gated.
    if count(&old.at("schedulingGates")) > 0 {
        spec_fields.remove("nodeSelector");
        spec_fields.remove("affinity");
    }
    spec_fields
}

fn without(value: &Value, names: &[&str]) -> Map<String, Value> {
    let mut fields = value.as_object().cloned().unwrap_or_default();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    fields
}
