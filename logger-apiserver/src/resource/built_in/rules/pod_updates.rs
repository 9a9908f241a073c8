//! What may change of a pod that is there: its images, its deadline, more tolerations, fewer gates.

use serde_json::{Map, Value};

use super::{Errors, Place};
use crate::api::object::Object;

/// The error for any other change. The real server appends the difference of its structs.
const FEW: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

/// What an update changes that it may not.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let (new_status, old_status) = (Place::of(new, "status").at("qosClass"), Place::of(old, "status").at("qosClass"));
    if old_status.is_there() && new_status.value != old_status.value {
        errors.push(new_status.invalid("field is immutable"));
    }
    let (new, old) = (Place::of(new, "spec"), Place::of(old, "spec"));
    for list in ["containers", "initContainers"] {
        if count(&new.at(list)) != count(&old.at(list)) {
            return errors.push(new.at(list).forbidden("pod updates may not add or remove containers"));
        }
    }
    for image in
        ["containers", "initContainers"].iter().flat_map(|list| new.at(list).items()).map(|one| one.at("image"))
    {
        errors.extend(Some(image).filter(Place::is_empty).map(|image| image.required("")));
    }
    if !deadline(&new.at("activeDeadlineSeconds"), &old.at("activeDeadlineSeconds"), errors) {
        return;
    }
    tolerations(&new.at("tolerations"), &old.at("tolerations"), errors);
    gates(&new.at("schedulingGates"), &old.at("schedulingGates"), errors);
    if rest(&new, &old) != rest(&old, &old) {
        errors.push(new.forbidden(FEW));
    }
}

fn count(list: &Place<'_>) -> usize {
    list.items().count()
}

/// A deadline may come and become shorter.
fn deadline(new: &Place<'_>, old: &Place<'_>, errors: &mut Errors) -> bool {
    match (new.value.as_i64(), old.value.as_i64()) {
        (Some(seconds), Some(before)) if seconds > before => {
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

/// Each that was there is there, perhaps for another time.
fn tolerations(new: &Place<'_>, old: &Place<'_>, errors: &mut Errors) {
    let timeless = |toleration: Place<'_>| without(toleration.value, &["tolerationSeconds"]);
    let now: Vec<_> = new.items().map(timeless).collect();
    if old.items().map(timeless).any(|before| !now.contains(&before)) {
        errors.push(new.forbidden("existing toleration can not be modified except its tolerationSeconds"));
    }
}

/// Gates open, and do not close.
fn gates(new: &Place<'_>, old: &Place<'_>, errors: &mut Errors) {
    let closed: Vec<&str> = old.items().map(|gate| gate.at("name").text()).collect();
    for name in new.items().map(|gate| gate.at("name")).filter(|name| !closed.contains(&name.text())) {
        let why = format!("only deletion is allowed, but found new scheduling gate '{}'", name.text());
        errors.push(name.forbidden(why));
    }
}

/// What of a spec stays as it is.
fn rest(spec: &Place<'_>, old: &Place<'_>) -> Map<String, Value> {
    let mut rest = without(spec.value, &["activeDeadlineSeconds", "tolerations", "schedulingGates"]);
    for list in ["containers", "initContainers"] {
        let containers = spec.at(list).items().map(|container| Value::Object(without(container.value, &["image"])));
        rest.insert(list.to_owned(), containers.collect());
    }
    let grace = "terminationGracePeriodSeconds";
    if old.at(grace).value.as_i64().is_some_and(|seconds| seconds < 0) && spec.at(grace).value == 1 {
        rest.insert(grace.to_owned(), old.at(grace).value.clone());
    }
    // Before it may be scheduled, where to may still be narrowed down.
    if count(&old.at("schedulingGates")) > 0 {
        rest.remove("nodeSelector");
        rest.remove("affinity");
    }
    rest
}

fn without(value: &Value, names: &[&str]) -> Map<String, Value> {
    let mut fields = value.as_object().cloned().unwrap_or_default();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    fields
}
