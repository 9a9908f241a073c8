//! Pruning of unknown fields.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/pruning` of 1.36.

use serde_json::{Map, Value};

use super::position::Position;
use crate::{
    field::PathList,
    schema::{Additional, Schema},
};

/// Fields of every Kubernetes object, which a schema does not have to specify.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes every unknown field, and returns the sorted paths of the first removed fields: their total size is limited.
///
/// All fields of objects below `additionalProperties: true`, and of list items without a schema, are unknown, unless
/// the schema preserves unknown fields.
pub fn prune(fields: &mut Map<String, Value>, schema: &Value) -> Vec<String> {
    let mut unknown = PathList::default();
    prune_fields(fields, Some(Schema(schema)), true, &Position::Path(""), &mut unknown);
    unknown.into_sorted()
}

/// Prunes any value. `is_root` specifies whether it is a Kubernetes object.
pub(crate) fn prune_value(value: &mut Value, schema: Schema<'_>, is_root: bool) {
    match value {
        Value::Object(fields) => {
            prune_fields(fields, Some(schema), is_root, &Position::Path(""), &mut PathList::default());
        }
        other => prune_nested(other, Some(schema), &Position::Path(""), &mut PathList::default()),
    }
}

fn prune_nested(value: &mut Value, schema: Option<Schema<'_>>, position: &Position<'_>, unknown: &mut PathList) {
    match value {
        Value::Object(fields) => prune_fields(fields, schema, false, position, unknown),
        Value::Array(items) => {
            let preserves = schema.is_some_and(Schema::preserves_unknown_fields);
            let item = schema.and_then(Schema::items);
            for (index, value) in items.iter_mut().enumerate() {
                let position = Position::Item(position, index);
                match (preserves, value, item) {
                    // The items of a list that preserves unknown fields preserve them too. Fields with a schema are
                    // pruned.
                    (true, Value::Object(fields), Some(item)) => prune_known_fields(fields, item, &position, unknown),
                    (true, _, _) => {}
                    (false, value, item) => prune_nested(value, item, &position, unknown),
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
    position: &Position<'_>,
    unknown: &mut PathList,
) {
    let Some(schema) = schema else {
        fields.keys().for_each(|name| unknown.push_with(|| Position::Field(position, name).path()));
        return fields.clear();
    };
    if schema.preserves_unknown_fields() {
        return prune_known_fields(fields, schema, position, unknown);
    }
    let is_object = is_root || schema.is_embedded_resource();
    fields.retain(|name, value| {
        let is_known =
            is_object && META.contains(&name.as_str()) || prune_field(name, value, schema, position, unknown);
        if !is_known {
            unknown.push_with(|| Position::Field(position, name).path());
        }
        is_known
    });
}

/// Prunes inside the fields that have a schema, and preserves the others.
fn prune_known_fields(
    fields: &mut Map<String, Value>,
    schema: Schema<'_>,
    position: &Position<'_>,
    unknown: &mut PathList,
) {
    for (name, value) in fields {
        if !(schema.is_embedded_resource() && META.contains(&name.as_str())) {
            prune_field(name, value, schema, position, unknown);
        }
    }
}

/// Prunes inside a field. Returns whether the schema specifies the field.
fn prune_field(
    name: &str,
    value: &mut Value,
    schema: Schema<'_>,
    position: &Position<'_>,
    unknown: &mut PathList,
) -> bool {
    let nested = match (schema.property(name), schema.additional()) {
        (Some(property), _) | (None, Some(Additional::Schema(property))) => Some(property),
        (None, Some(Additional::Allowed(_))) => None,
        (None, None) => return false,
    };
    prune_nested(value, nested, &Position::Field(position, name), unknown);
    true
}
