//! Fields that no schema knows are dropped.

use serde_json::{Map, Value};

use super::child;
use crate::schema::{Additional, Schema};

/// Fields of every Kubernetes object, which no schema has to name.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops every field the schema does not know, and returns their paths, sorted.
///
/// Below `additionalProperties: true` and below lists whose items have no schema nothing is known: what is a map there is
/// emptied, unless the schema preserves unknown fields.
pub fn prune(fields: &mut Map<String, Value>, schema: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_fields(fields, Some(Schema(schema)), true, "", &mut unknown);
    unknown.sort_unstable();
    unknown
}

/// As [`prune`], for a value that is not a whole object; `is_root` if it stands for one.
pub(crate) fn prune_value(value: &mut Value, schema: Schema<'_>, is_root: bool) {
    match value {
        Value::Object(fields) => prune_fields(fields, Some(schema), is_root, "", &mut Vec::new()),
        other => prune_in(other, Some(schema), "", &mut Vec::new()),
    }
}

fn prune_in(value: &mut Value, schema: Option<Schema<'_>>, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(fields, schema, false, path, unknown),
        Value::Array(items) => {
            let preserves = schema.is_some_and(Schema::preserves);
            let item = schema.and_then(Schema::items);
            for (index, value) in items.iter_mut().enumerate() {
                let path = format!("{path}[{index}]");
                match (preserves, value, item) {
                    // What is in a list that preserves all is preserved, but for what its own schema says.
                    (true, Value::Object(fields), Some(item)) => keep_unknown(fields, item, &path, unknown),
                    (true, _, _) => {}
                    (false, value, item) => prune_in(value, item, &path, unknown),
                }
            }
        }
        _ => {}
    }
}

fn prune_fields(
    fields: &mut Map<String, Value>,
    schema: Option<Schema<'_>>,
    is_root: bool,
    path: &str,
    unknown: &mut Vec<String>,
) {
    let Some(schema) = schema else {
        unknown.extend(fields.keys().map(|name| child(path, name)));
        return fields.clear();
    };
    if schema.preserves() {
        return keep_unknown(fields, schema, path, unknown);
    }
    let is_object = is_root || schema.is_embedded();
    fields.retain(|name, value| {
        let is_known = is_object && META.contains(&name.as_str()) || prune_known(name, value, schema, path, unknown);
        if !is_known {
            unknown.push(child(path, name));
        }
        is_known
    });
}

/// Prunes inside the fields that have a schema; the others stay as they are.
fn keep_unknown(fields: &mut Map<String, Value>, schema: Schema<'_>, path: &str, unknown: &mut Vec<String>) {
    for (name, value) in fields {
        if !(schema.is_embedded() && META.contains(&name.as_str())) {
            prune_known(name, value, schema, path, unknown);
        }
    }
}

/// Prunes inside a field, if the schema knows it.
fn prune_known(name: &str, value: &mut Value, schema: Schema<'_>, path: &str, unknown: &mut Vec<String>) -> bool {
    let inside = match (schema.property(name), schema.additional()) {
        (Some(property), _) | (None, Some(Additional::Schema(property))) => Some(property),
        (None, Some(Additional::Allowed(_))) => None,
        (None, None) => return false,
    };
    prune_in(value, inside, &child(path, name), unknown);
    true
}
