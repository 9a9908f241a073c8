//! Nulls that may not be dropped, defaults filled in.

use serde_json::{Map, Value};

use crate::schema::{Additional, Schema};

/// Drops nulls where none are allowed and no default takes their place, at any depth.
pub fn drop_nulls(fields: &mut Map<String, Value>, schema: &Value) {
    drop_nulls_of(fields, Schema(schema));
}

fn drop_nulls_of(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    fields.retain(|name, value| {
        let Some(property) = of_field(schema, name) else { return true };
        drop_nulls_in(value, property);
        !is_wrong_null(value, property) || property.get("default").is_some()
    });
}

fn drop_nulls_in(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => drop_nulls_of(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter_mut().for_each(|item| drop_nulls_in(item, schema));
        }
        _ => {}
    }
}

/// Fills in defaults, at any depth of what is there; they take the place of nulls where none are allowed, too.
pub fn default(fields: &mut Map<String, Value>, schema: &Value) {
    default_fields(fields, Schema(schema));
}

fn default_fields(fields: &mut Map<String, Value>, schema: Schema<'_>) {
    for (name, property) in schema.map("properties") {
        if let Some(default) = property.get("default")
            && fields.get(name).is_none_or(|value| is_wrong_null(value, property))
        {
            fields.insert(name.to_owned(), default.clone());
        }
    }
    for (name, value) in fields {
        match (schema.property(name), schema.additional()) {
            (Some(property), _) => default_value(value, property),
            (None, Some(Additional::Schema(property))) => default_entry(value, property),
            _ => {}
        }
    }
}

/// An item or an entry of a map has a default only in place of a null.
fn default_entry(value: &mut Value, schema: Schema<'_>) {
    if let Some(default) = schema.get("default").filter(|_| is_wrong_null(value, schema)) {
        *value = default.clone();
    }
    default_value(value, schema);
}

fn default_value(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => default_fields(fields, schema),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter_mut().for_each(|item| default_entry(item, schema));
        }
        _ => {}
    }
}

fn of_field<'a>(schema: Schema<'a>, name: &str) -> Option<Schema<'a>> {
    schema.property(name).or_else(|| match schema.additional() {
        Some(Additional::Schema(property)) => Some(property),
        _ => None,
    })
}

fn is_wrong_null(value: &Value, schema: Schema<'_>) -> bool {
    value.is_null() && !schema.is_nullable()
}
