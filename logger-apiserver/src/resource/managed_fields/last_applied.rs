//! Taking over from client-side apply: what `kubectl` noted in an annotation that it applied is its own.

use serde_json::{Value, json};

use super::{
    check::{Duplicates, check},
    collect::collect,
    compare::compare,
    set::FieldSet,
    types::Type,
};

/// The one manager this holds for.
const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields that a manager may take from others without being asked to: those that are as it applied them last.
pub(super) fn forgiven(manager: &str, live: &Value, type_: &Type) -> FieldSet {
    let Some(last) = noted(manager, live).and_then(|note| serde_json::from_str::<Value>(note).ok()) else {
        return FieldSet::default();
    };
    let is_typed = |object: &Value| check(object, type_, Duplicates::Refused).is_ok();
    if last.get("apiVersion") != live.get("apiVersion") || !is_typed(&last) || !is_typed(live) {
        return FieldSet::default();
    }
    let changes = compare(&last, live, type_);
    collect(&last, type_).difference(&changes.written()).difference(&changes.removed)
}

/// Notes what was applied, where such a note is kept already.
pub(super) fn note(manager: &str, applied: &Value, object: &mut Value) {
    if noted(manager, object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(ANNOTATION);
    }
    object["metadata"]["annotations"][ANNOTATION] = json!(format!("{applied}\n"));
}

fn noted<'a>(manager: &str, object: &'a Value) -> Option<&'a str> {
    let note = object.pointer("/metadata/annotations")?.get(ANNOTATION)?.as_str()?;
    Some(note).filter(|note| manager == MANAGER && !note.is_empty())
}
