//! Checks values against a schema, with the texts of the real server's validator
//!
//! Not checked in this form: `pattern`, `format` beyond integer widths, `multipleOf`, `uniqueItems`, `allOf`, `anyOf`, `oneOf`,
//! `not`, and CEL rules.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Map, Number, Value};

use super::{Known, child, item_schema, property};
use crate::status::FieldError;

/// Every rule of `schema` that an object's body breaks.
pub(crate) fn validate(body: &Map<String, Value>, schema: &JSONSchemaProps) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_object(body, schema, "", &mut errors);
    errors
}

fn check(value: &Value, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let null_is_fine = value.is_null() && schema.nullable == Some(true);
    let typed = null_is_fine || check_type(value, schema, path, errors);
    check_enum(value, schema, path, errors);
    if !typed {
        return;
    }
    match value {
        Value::Object(fields) => check_object(fields, schema, path, errors),
        Value::Array(items) => check_array(items, schema, path, errors),
        Value::String(text) => check_string(text, schema, path, errors),
        Value::Number(number) => check_number(number, schema, path, errors),
        Value::Null | Value::Bool(_) => {}
    }
}

fn check_type(value: &Value, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) -> bool {
    let found = type_of(value);
    let expected = match schema.type_.as_deref() {
        _ if schema.x_kubernetes_int_or_string == Some(true) => "integer,string",
        None | Some("") => return true,
        Some(name) => name,
    };
    let fits = expected.split(',').any(|name| name == found) || expected == "number" && found == "integer";
    if !fits {
        errors.push(FieldError::wrong_type(path, expected, found));
    }
    if let (Value::Number(number), "integer") = (value, expected)
        && let Some(format) = broken_integer_format(number, schema.format.as_deref())
    {
        // The real server reports this without a field.
        errors.push(FieldError::invalid(
            "<nil>",
            "\"\"",
            format!("Checked value must be of type integer {format} in {path}"),
        ));
    }
    fits
}

fn broken_integer_format(number: &Number, format: Option<&str>) -> Option<String> {
    let fits = match (number.as_i64(), format) {
        (None, _) => number.is_u64(),
        (Some(value), Some("int32")) => i32::try_from(value).is_ok(),
        (Some(_), _) => true,
    };
    let expected = || format.map_or_else(|| "(default format)".to_owned(), |format| format!("with format {format}"));
    (!fits).then(expected)
}

fn check_enum(value: &Value, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let Some(allowed) = &schema.enum_ else { return };
    // No null is a word to the real server, not even one that is listed.
    if !value.is_null() && allowed.iter().any(|allowed| allowed.0 == *value) {
        return;
    }
    let allowed: Vec<String> = allowed.iter().map(|allowed| bare(&allowed.0)).collect();
    errors.push(FieldError::unsupported(path, value, &allowed));
}

fn check_object(fields: &Map<String, Value>, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    check_size(fields.len(), schema.min_properties, schema.max_properties, "properties", path, errors);
    let at_root = path.is_empty();
    for name in schema.required.iter().flatten() {
        // These are taken off before the body gets here, and the server fills them in.
        let given = at_root && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if !given && !fields.contains_key(name) {
            errors.push(FieldError::required(child(path, name), ""));
        }
    }
    for (name, value) in fields {
        if let Known::Schema(property) = property(schema, name) {
            check(value, property, &child(path, name), errors);
        }
    }
}

fn check_array(items: &[Value], schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    check_size(items.len(), schema.min_items, schema.max_items, "items", path, errors);
    let Some(schema) = item_schema(schema) else { return };
    for (index, item) in items.iter().enumerate() {
        check(item, schema, &format!("{path}[{index}]"), errors);
    }
}

fn check_size(size: usize, least: Option<i64>, most: Option<i64>, of: &str, path: &str, errors: &mut Vec<FieldError>) {
    let signed = i64::try_from(size).unwrap_or(i64::MAX);
    if let Some(least) = least.filter(|least| signed < *least) {
        errors.push(FieldError::invalid(path, size, format!("{path} in body should have at least {least} {of}")));
    }
    if let Some(most) = most.filter(|most| signed > *most) {
        errors.push(FieldError::too_many(path, size, most));
    }
}

fn check_string(text: &str, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(least) = schema.min_length.filter(|least| length < *least) {
        let why = format!("{path} in body should be at least {least} chars long");
        errors.push(FieldError::invalid(path, format!("{text:?}"), why));
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        errors.push(FieldError::too_long(path, usize::try_from(most).unwrap_or_default()));
    }
}

fn check_number(number: &Number, schema: &JSONSchemaProps, path: &str, errors: &mut Vec<FieldError>) {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let mut broken = |relation: String| {
        errors.push(FieldError::invalid(path, number, format!("{path} in body should be {relation}")));
    };
    match (schema.minimum, schema.exclusive_minimum == Some(true)) {
        (Some(least), true) if value <= least => broken(format!("greater than {least}")),
        (Some(least), false) if value < least => broken(format!("greater than or equal to {least}")),
        _ => {}
    }
    match (schema.maximum, schema.exclusive_maximum == Some(true)) {
        (Some(most), true) if value >= most => broken(format!("less than {most}")),
        (Some(most), false) if value > most => broken(format!("less than or equal to {most}")),
        _ => {}
    }
}

/// A value's type as the validator names it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
