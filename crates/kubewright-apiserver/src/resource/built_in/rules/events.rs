//! Validation of events of both groups.
//!
//! Errors name the fields of the core group for both groups, as those of the real server do.

use kubewright_crd::names;

use super::{Change, Errors, FieldValue};
use crate::{
    api::{error::FieldError, object::Object},
    resource::events::NAMES,
};

/// The maximum length of `reportingInstance`, `action` and `reason`.
const MAX_LENGTH: usize = 128;

/// Validates an event of the core group.
pub(in crate::resource::built_in) fn event(change: &Change<'_>, errors: &mut Errors) {
    legacy_event(change.object, &FieldValue::new(change.object, "involvedObject"), errors);
}

/// Validates an event of `events.k8s.io`: it has an `eventTime`, no deprecated fields, and is immutable apart from its
/// series.
pub(in crate::resource::built_in) fn new_event(change: &Change<'_>, errors: &mut Errors) {
    let event = change.object;
    if let Some(old) = change.old {
        return event_update(event, old, errors);
    }
    legacy_event(
        event,
        &FieldValue { path: "involvedObject".to_owned(), ..FieldValue::new(event, "regarding") },
        errors,
    );
    let time = FieldValue::new(event, "eventTime");
    if !time.is_set() {
        errors.push(time.required(""));
    }
    let type_ = FieldValue::new(event, "type").text();
    if !matches!(type_, "Normal" | "Warning") {
        errors.push(FieldError::invalid("type", "\"\"", format!("has invalid value: {type_}")));
    }
    for (core, new) in NAMES.iter().filter(|(_, new)| new.starts_with("deprecated")) {
        if !FieldValue::new(event, new).is_empty() {
            errors.push(FieldError::invalid(*core, "\"\"", "needs to be unset"));
        }
    }
}

/// Events with an `eventTime` need a controller and a reason; events without one only a namespace.
fn legacy_event(event: &Object, involved_object: &FieldValue<'_>, errors: &mut Errors) {
    let (namespace, object_namespace) = (event.namespace(), involved_object.at("namespace"));
    let has_time = FieldValue::new(event, "eventTime").is_set();
    let fits = match (object_namespace.text(), has_time) {
        ("", false) => namespace == "default",
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (other, false) => other == namespace,
        (_, true) => true,
    };
    if !fits {
        errors.push(object_namespace.invalid_text("does not match event.namespace"));
    }
    if !has_time {
        return;
    }
    let controller = ["reportingController", "reportingComponent"].map(|name| FieldValue::new(event, name));
    let controller =
        controller.into_iter().find(|field| !field.is_empty()).unwrap_or(FieldValue::new(event, "reportingController"));
    let controller = FieldValue { path: "reportingController".to_owned(), ..controller };
    if controller.is_empty() {
        errors.push(controller.required(""));
    }
    errors.extend(names::label_key(controller.text()).into_iter().map(|detail| controller.invalid_text(detail)));
    for field in ["reportingInstance", "action", "reason"].map(|name| FieldValue::new(event, name)) {
        if field.is_empty() {
            errors.push(field.required(""));
        } else if field.text().len() > MAX_LENGTH {
            errors.push(FieldError::invalid(field.path, "\"\"", format!("can have at most {MAX_LENGTH} characters")));
        }
    }
}

/// Validates an update: all fields except the series are immutable.
fn event_update(event: &Object, old: &Object, errors: &mut Errors) {
    const OTHERS: [&str; 6] = ["action", "eventTime", "reason", "related", "reportingInstance", "type"];
    let all = NAMES.into_iter().chain(OTHERS.map(|name| (name, name)));
    for (core, new) in all {
        let (new_value, old_value) = (FieldValue::new(event, new), FieldValue::new(old, new));
        if new_value.value != old_value.value {
            errors.push(FieldError::invalid(core, new_value.value, "field is immutable"));
        }
    }
}
