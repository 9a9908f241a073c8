//! Validation of defaults against their schema, because the API server rejects a CRD with an invalid default.

use kubewright_names::extension::Extension;
use serde_json::{Number, Value, json};

use super::{Node, PRESERVE};

/// Returns the first error of a default.
pub(super) fn validate(value: &Value, schema: &Node) -> Option<String> {
    validate_value(value, schema, "").err()
}

type ValidationResult = Result<(), String>;

fn validate_value(value: &Value, schema: &Node, path: &str) -> ValidationResult {
    if value.is_null() && schema.get("nullable") == Some(&json!(true)) {
        return Ok(());
    }
    validate_type(value, schema, path)?;
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        return Err(error(path, value, format_args!("is not one of {}", Value::Array(allowed.clone()))));
    }
    match value {
        Value::Number(number) => validate_bounds(number, schema, path),
        Value::String(text) => validate_size(text.chars().count(), "Length", value, schema, path),
        Value::Array(items) => {
            validate_size(items.len(), "Items", value, schema, path)?;
            let Some(Value::Object(schema)) = schema.get("items") else { return Ok(()) };
            items.iter().enumerate().try_for_each(|(i, item)| validate_value(item, schema, &format!("{path}[{i}]")))
        }
        Value::Object(fields) => {
            validate_size(fields.len(), "Properties", value, schema, path)?;
            validate_fields(fields, schema, path)
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn validate_type(value: &Value, schema: &Node, path: &str) -> ValidationResult {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let int_or_string = schema.get("x-kubernetes-int-or-string") == Some(&json!(true));
    let is_valid = match schema.get("type").and_then(Value::as_str) {
        _ if int_or_string => ["integer", "string"].contains(&found),
        None => true,
        Some(expected) => expected == found || (expected, found) == ("number", "integer"),
    };
    let int32 = schema.get("format") == Some(&json!("int32"));
    match is_valid {
        false => Err(error(path, value, format_args!("is of type {found}"))),
        true if int32 && value.as_i64().is_none_or(|value| i32::try_from(value).is_err()) => {
            Err(error(path, value, "exceeds 32 bits"))
        }
        true => Ok(()),
    }
}

fn validate_bounds(number: &Number, schema: &Node, path: &str) -> ValidationResult {
    let exclusive = |key: &str| schema.get(key) == Some(&json!(true));
    let limit = |key: &str| schema.get(key).filter(|limit| limit.is_number());
    let (value, number) = (number.as_f64(), &Value::Number(number.clone()));
    match limit("minimum") {
        Some(min) if value < min.as_f64() => return Err(error(path, number, format_args!("is less than {min}"))),
        Some(min) if exclusive("exclusiveMinimum") && value == min.as_f64() => {
            return Err(error(path, number, format_args!("is not greater than {min}")));
        }
        Some(_) | None => {}
    }
    match limit("maximum") {
        Some(max) if value > max.as_f64() => Err(error(path, number, format_args!("is greater than {max}"))),
        Some(max) if exclusive("exclusiveMaximum") && value == max.as_f64() => {
            Err(error(path, number, format_args!("is not less than {max}")))
        }
        Some(_) | None => Ok(()),
    }
}

fn validate_size(size: usize, quantity: &str, value: &Value, schema: &Node, path: &str) -> ValidationResult {
    let limit = |end: &str| schema.get(&format!("{end}{quantity}")).and_then(Value::as_u64);
    match (limit("min"), limit("max")) {
        (Some(min), _) if (size as u64) < min => Err(error(path, value, format_args!("is shorter than {min}"))),
        (_, Some(max)) if size as u64 > max => Err(error(path, value, format_args!("is longer than {max}"))),
        _ => Ok(()),
    }
}

/// Validates that all required fields are set, and that all fields are known.
fn validate_fields(fields: &Node, schema: &Node, path: &str) -> ValidationResult {
    let mut required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
        return Err(format!("its default misses the required field `{path}.{name}`"));
    }
    let property = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        match property(name).or_else(|| schema.get("additionalProperties")) {
            Some(Value::Object(schema)) => validate_value(value, schema, &path)?,
            _ if schema.contains_key(PRESERVE) => {}
            _ => return Err(format!("its default has the unknown field `{path}`")),
        }
    }
    Ok(())
}

fn error(path: &str, value: &Value, what: impl std::fmt::Display) -> String {
    match path {
        "" => format!("its default {value} {what}"),
        path => format!("its default has {value} at `{path}`, which {what}"),
    }
}

/// Removes the marks of nullable fields.
pub(super) fn remove_marks(node: &mut Node) {
    node.remove(Extension::Nullable.name());
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(remove_marks);
    }
    for key in ["items", "additionalProperties"] {
        node.get_mut(key).and_then(Value::as_object_mut).into_iter().for_each(remove_marks);
    }
}

/// Removes nulls of fields that are an `Option`, or are not nullable: in Rust they are absent.
pub(super) fn prune_nulls(value: &mut Value, schema: &Node) {
    let nothing = Node::new();
    let below = |key: &str| schema.get(key).and_then(Value::as_object);
    match value {
        Value::Object(fields) => {
            let schema_of = |name: &str| {
                let property = below("properties").and_then(|properties| properties.get(name)?.as_object());
                property.or_else(|| below("additionalProperties")).unwrap_or(&nothing)
            };
            let has_null = |name: &str| {
                schema_of(name).get("nullable") == Some(&json!(true))
                    && !schema_of(name).contains_key(Extension::Nullable.name())
            };
            fields.retain(|name, value| !value.is_null() || has_null(name));
            fields.iter_mut().for_each(|(name, value)| prune_nulls(value, schema_of(name)));
        }
        Value::Array(items) => {
            let schema = below("items").unwrap_or(&nothing);
            items.iter_mut().for_each(|item| prune_nulls(item, schema));
        }
        _ => {}
    }
}
