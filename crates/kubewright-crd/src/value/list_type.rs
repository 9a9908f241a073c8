//! Uniqueness of the items of lists of type set or map.
//!
//! After `apiextensions-apiserver/pkg/apiserver/schema/listtype` of 1.36.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{item, position::Position};
use crate::{
    field::{ErrorList, FieldError},
    go,
    schema::{Additional, Schema},
};

/// Validates the lists in an object.
pub(super) fn validate(fields: &Map<String, Value>, schema: Schema<'_>) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    validate_fields(fields, schema, &Position::Path(""), &mut errors);
    errors.into_vec()
}

fn validate_fields(fields: &Map<String, Value>, schema: Schema<'_>, position: &Position<'_>, errors: &mut ErrorList) {
    for (name, value) in fields {
        if let Some(Additional::Schema(schema)) = schema.additional() {
            validate_value(value, schema, &Position::Entry(position, name), errors);
        }
        if let Some(property) = schema.property(name) {
            validate_value(value, property, &Position::Field(position, name), errors);
        }
    }
}

fn validate_value(value: &Value, schema: Schema<'_>, position: &Position<'_>, errors: &mut ErrorList) {
    match value {
        Value::Object(fields) => validate_fields(fields, schema, position, errors),
        Value::Array(items) => {
            match schema.list_type() {
                Some("set") => validate_unique(items.clone(), &position.path(), errors),
                Some("map") => validate_list_map(items, schema, &position.path(), errors),
                _ => {}
            }
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                validate_value(item, schema, &Position::Item(position, index), errors);
            }
        }
        _ => {}
    }
}

fn validate_list_map(items: &[Value], schema: Schema<'_>, path: &str, errors: &mut ErrorList) {
    let is_invalid = |item: &&Value| !item.is_object() && !item.is_null();
    if let Some((index, invalid)) = items.iter().enumerate().find(|(_, item)| is_invalid(item)) {
        let detail = "must be an object for an array of list-type map";
        return errors.push(FieldError::invalid(item(path, index), invalid.clone(), detail));
    }
    validate_unique(items.iter().map(|item| key_of(item, schema)).collect(), path, errors);
}

/// Returns the key fields of an item of a list of type map. Absent fields are left out.
pub(super) fn key_of(item: &Value, schema: Schema<'_>) -> Value {
    let fields = schema.list_map_keys().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone())));
    Value::Object(fields.collect())
}

/// Reports each duplicate value once, at its second index.
fn validate_unique(values: Vec<Value>, path: &str, errors: &mut ErrorList) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, value) in values.into_iter().enumerate() {
        let count = seen.entry(go::json(&value)).or_default();
        *count += 1;
        if *count == 2 {
            errors.push(FieldError::duplicate(item(path, index), value));
        }
    }
}
