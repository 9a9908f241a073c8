//! Lists that are sets or maps hold nothing twice

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Map, Value};

use super::{Known, child, item_schema, property};
use crate::status::FieldError;

/// The items of lists in an object's body that are there already.
pub(crate) fn duplicates(body: &Map<String, Value>, schema: &JSONSchemaProps) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_fields(body, schema, "", &mut errors);
    errors
}

fn check_fields(fields: &Map<String, Value>, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let is_named = |name: &String| schema.properties.as_ref().is_some_and(|properties| properties.contains_key(name));
    for (name, value) in fields {
        if let Known::Schema(property) = property(schema, name) {
            let path = if is_named(name) { child(path, name) } else { format!("{path}[{name}]") };
            check(value, property, &path, errors);
        }
    }
}

fn check(value: &Value, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(fields) => check_fields(fields, schema, path, errors),
        Value::Array(items) => {
            match schema.x_kubernetes_list_type.as_deref() {
                Some("set") => check_unique(items.clone(), path, errors),
                Some("map") => check_map(items, schema, path, errors),
                _ => {}
            }
            let Some(schema) = item_schema(schema) else { return };
            for (index, item) in items.iter().enumerate() {
                check(item, schema, &format!("{path}[{index}]"), errors);
            }
        }
        _ => {}
    }
}

fn check_map(items: &[Value], schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let is_other = |item: &&Value| !item.is_object() && !item.is_null();
    if let Some((index, other)) = items.iter().enumerate().find(|(_, item)| is_other(item)) {
        let why = "must be an object for an array of list-type map";
        return errors.push(FieldError::invalid(format!("{path}[{index}]"), other, why));
    }
    let names = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
    let key = |item: &Value| {
        names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect::<Map<_, _>>()
    };
    check_unique(items.iter().map(|item| Value::Object(key(item))).collect(), path, errors);
}

/// However often something is there, it is reported once.
fn check_unique(values: Vec<Value>, path: &str, errors: &mut Vec<FieldError>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, value) in values.into_iter().enumerate() {
        let text = value.to_string();
        let times = seen.entry(text.clone()).or_default();
        *times += 1;
        if *times == 2 {
            errors.push(FieldError::duplicate(format!("{path}[{index}]"), text));
        }
    }
}
