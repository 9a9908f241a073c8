//! Migration from client-side apply: `kubectl` owns the fields in its last-applied annotation.

use serde_json::{Value, json};

use super::{
    check::{Duplicates, check},
    collect::collect,
    compare::compare,
    set::FieldSet,
    types::Type,
};

/// The manager with an annotation.
const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the fields whose conflicts are ignored: those that have the value in the annotation of the manager.
pub(super) fn ignored_fields(manager: &str, live: &Value, type_: &Type) -> FieldSet {
    let Some(last) = annotation_of(manager, live).and_then(|annotation| serde_json::from_str::<Value>(annotation).ok())
    else {
        return FieldSet::default();
    };
    let is_typed = |object: &Value| check(object, type_, Duplicates::Rejected).is_ok();
    if last.get("apiVersion") != live.get("apiVersion") || !is_typed(&last) || !is_typed(live) {
        return FieldSet::default();
    }
    let changes = compare(&last, live, type_);
    collect(&last, type_).difference(&changes.written()).difference(&changes.removed)
}

/// Updates the annotation, if the object has it.
pub(super) fn update(manager: &str, applied: &Value, object: &mut Value) {
    if annotation_of(manager, object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(ANNOTATION);
    }
    object["metadata"]["annotations"][ANNOTATION] = json!(format!("{applied}\n"));
}

fn annotation_of<'a>(manager: &str, object: &'a Value) -> Option<&'a str> {
    let annotation = object.pointer("/metadata/annotations")?.get(ANNOTATION)?.as_str()?;
    Some(annotation).filter(|annotation| manager == MANAGER && !annotation.is_empty())
}
