//! Defaulting, and pruning of nulls.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/defaulting` of 1.36.

use serde_json::{Map, Value};

use crate::schema::{Additional, Schema};

/// Removes nulls at any depth that are not nullable and have no default.
pub fn prune_nulls(fields: &mut Map<String, Value>, schema: &Value) {
    prune_nulls_in_fields(fields, Schema(schema));
}

fn prune_nulls_in_fields(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    fields.retain(|name, value| {
        let Some(property) = field_schema(schema, name) else { return true };
        prune_nulls_in_value(value, property);
        !is_invalid_null(value, property) || property.get("default").is_some()
    });
}

fn prune_nulls_in_value(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => prune_nulls_in_fields(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter_mut().for_each(|item| prune_nulls_in_value(item, schema));
        }
        _ => {}
    }
}

/// Sets defaults at any depth of the existing objects, for absent fields and for nulls that are not nullable.
pub fn default(fields: &mut Map<String, Value>, schema: &Value) {
    default_fields(fields, Schema(schema));
}

fn default_fields(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    for (name, property) in schema.schema_map("properties") {
        if let Some(default) = property.get("default")
            && fields.get(name).is_none_or(|value| is_invalid_null(value, property))
        {
            fields.insert(name.to_owned(), default.clone());
        }
    }
    for (name, value) in fields {
        match (schema.property(name), schema.additional()) {
            (Some(property), _) => default_value(value, property),
            (None, Some(Additional::Schema(property))) => default_element(value, property),
            _ => {}
        }
    }
}

/// List items and map values are defaulted only if they are null.
fn default_element(value: &mut Value, schema: Schema<'_>) {
    if let Some(default) = schema.get("default").filter(|_| is_invalid_null(value, schema)) {
        *value = default.clone();
    }
    default_value(value, schema);
}

fn default_value(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => default_fields(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter_mut().for_each(|item| default_element(item, schema));
        }
        _ => {}
    }
}

fn field_schema<'a>(schema: Schema<'a>, name: &str) -> Option<Schema<'a>> {
    schema.property(name).or_else(|| match schema.additional() {
        Some(Additional::Schema(property)) => Some(property),
        _ => None,
    })
}

fn is_invalid_null(value: &Value, schema: Schema<'_>) -> bool {
    value.is_null() && !schema.is_nullable()
}
