//! Formats the result of a patch as Go does, for errors.
//!
//! The patch library of the real server sorts the fields of objects that it parses by name and leaves others unchanged:
//! metadata of built-in kinds is in the order of Go's struct. The struct order of their other fields is not
//! implemented.

use serde_json::{Map, Value, json};

/// The fields of `ObjectMeta`, `OwnerReference` and `ManagedFieldsEntry` in the order of their Go structs.
const META: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
const ENTRY: [&str; 7] = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

/// Formats the result of a JSON patch or merge patch.
pub(crate) fn go_json(is_custom: bool, patch: &[u8], outcome: &Value) -> String {
    let text = match outcome {
        Value::Object(fields) if !is_custom => object(fields, &[], |name, value| match (name, value) {
            ("metadata", Value::Object(metadata)) => {
                let order: &[&str] = if parses_metadata(patch) { &[] } else { &META };
                object(metadata, order, in_metadata)
            }
            _ => sorted(value),
        }),
        _ => sorted(outcome),
    };
    // Go escapes these characters for HTML.
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn in_metadata(name: &str, value: &Value) -> String {
    match name {
        "ownerReferences" => list(value, &OWNER),
        "managedFields" => list(value, &ENTRY),
        _ => sorted(value),
    }
}

fn parses_metadata(patch: &[u8]) -> bool {
    let patch: Value = serde_json::from_slice(patch).unwrap_or_default();
    let is_inside = |operation: &Value| {
        let mut paths = ["path", "from"].into_iter().filter_map(|field| operation[field].as_str());
        paths.any(|path| path.starts_with("/metadata/"))
    };
    patch["metadata"].is_object() || patch.as_array().is_some_and(|operations| operations.iter().any(is_inside))
}

fn list(value: &Value, order: &[&str]) -> String {
    let item = |item: &Value| match item {
        Value::Object(fields) => object(fields, order, |_, value| sorted(value)),
        other => sorted(other),
    };
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(",")),
        other => sorted(other),
    }
}

/// Formats an object: the fields in `order` first, then the others by name.
fn object(fields: &Map<String, Value>, order: &[&str], text: impl Fn(&str, &Value) -> String) -> String {
    let mut names: Vec<&String> = fields.keys().collect();
    let position = |name: &str| order.iter().position(|known| *known == name).unwrap_or(order.len());
    names.sort_by_key(|name| (position(name), (*name).clone()));
    let fields: Vec<String> =
        names.into_iter().map(|name| format!("{}:{}", json!(name), text(name, &fields[name]))).collect();
    format!("{{{}}}", fields.join(","))
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => object(fields, &[], |_, value| sorted(value)),
        Value::Array(_) => list(value, &[]),
        other => other.to_string(),
    }
}
