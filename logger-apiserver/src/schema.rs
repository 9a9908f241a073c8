//! What a definition's schema does to an object: unknown fields pruned, defaults filled in, the rest checked

mod list_type;
mod validate;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};

pub(crate) use list_type::duplicates;
pub(crate) use validate::validate;

/// Drops every field the schema does not know and returns their paths.
pub(crate) fn prune(fields: &mut Map<String, Value>, schema: &JSONSchemaProps) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_fields(fields, schema, "", &mut unknown);
    unknown
}

fn prune_fields(fields: &mut Map<String, Value>, schema: &JSONSchemaProps, path: &str, unknown: &mut Vec<String>) {
    let preserve = schema.x_kubernetes_preserve_unknown_fields == Some(true);
    let embedded = schema.x_kubernetes_embedded_resource == Some(true);
    fields.retain(|name, value| {
        let path = child(path, name);
        match property(schema, name) {
            Known::Schema(property) => prune_value(value, property, &path, unknown),
            Known::Anything => {}
            Known::No if preserve || embedded && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) => {}
            Known::No => {
                unknown.push(path);
                return false;
            }
        }
        true
    });
}

fn prune_value(value: &mut Value, schema: &JSONSchemaProps, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(fields, schema, path, unknown),
        Value::Array(items) => {
            let Some(schema) = item_schema(schema) else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune_value(item, schema, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

/// Drops nulls where none are allowed, at any depth.
pub(crate) fn drop_nulls(fields: &mut Map<String, Value>, schema: &JSONSchemaProps) {
    fields.retain(|name, value| match property(schema, name) {
        Known::Schema(property) => !is_wrong_null(value, property),
        Known::Anything | Known::No => true,
    });
    for (name, value) in fields {
        if let Known::Schema(property) = property(schema, name) {
            drop_nulls_in(value, property);
        }
    }
}

fn drop_nulls_in(value: &mut Value, schema: &JSONSchemaProps) {
    match value {
        Value::Object(fields) => drop_nulls(fields, schema),
        Value::Array(items) => {
            let Some(schema) = item_schema(schema) else { return };
            items.iter_mut().for_each(|item| drop_nulls_in(item, schema));
        }
        _ => {}
    }
}

fn is_wrong_null(value: &Value, schema: &JSONSchemaProps) -> bool {
    value.is_null() && schema.nullable != Some(true)
}

/// Fills in defaults, at any depth of what is there; they take the place of nulls where none are allowed, too.
pub(crate) fn default(fields: &mut Map<String, Value>, schema: &JSONSchemaProps) {
    for (name, property) in schema.properties.iter().flatten() {
        if let Some(default) = &property.default
            && fields.get(name).is_none_or(|value| is_wrong_null(value, property))
        {
            fields.insert(name.clone(), default.0.clone());
        }
    }
    for (name, value) in fields {
        if let Known::Schema(property) = property(schema, name) {
            default_value(value, property);
        }
    }
}

fn default_value(value: &mut Value, schema: &JSONSchemaProps) {
    match value {
        Value::Object(fields) => default(fields, schema),
        Value::Array(items) => {
            let Some(schema) = item_schema(schema) else { return };
            items.iter_mut().for_each(|item| default_value(item, schema));
        }
        _ => {}
    }
}

/// What a schema says of a field.
pub(crate) enum Known<'a> {
    Schema(&'a JSONSchemaProps),
    Anything,
    No,
}

pub(crate) fn property<'a>(schema: &'a JSONSchemaProps, name: &str) -> Known<'a> {
    if let Some(property) = schema.properties.as_ref().and_then(|properties| properties.get(name)) {
        return Known::Schema(property);
    }
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(property)) => Known::Schema(property),
        Some(JSONSchemaPropsOrBool::Bool(true)) => Known::Anything,
        Some(JSONSchemaPropsOrBool::Bool(false)) | None => Known::No,
    }
}

pub(crate) fn item_schema(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(item) => Some(item),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}

/// The path of a field inside `path`.
fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
