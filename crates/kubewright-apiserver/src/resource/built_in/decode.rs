//! Checks that the bodies of built-in kinds can be decoded into Go's structs, with the error messages of its decoder.

use k8s_openapi::ByteString;
use kubewright_crd::{
    quantity::Quantity,
    value::{Property, item_schema, json_type, property_schema},
};
use serde_json::{Map, Value};

use super::schema::BYTES;

const SUFFIX: &str = "unable to parse quantity's suffix";
const QUANTITY: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Returns the error of Go's decoder for the fields of an object. Unknown fields are ignored.
pub(crate) fn check_types(fields: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    check_fields(fields, schema, "")
}

/// Returns the value of a schema keyword, if it is a string.
fn keyword<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(name)?.as_str()
}

/// The position of a value in Go's errors: the innermost struct and the full path.
struct FieldPath<'a> {
    struct_: &'a str,
    path: &'a str,
}

impl FieldPath<'_> {
    fn unmarshal_error(&self, found: &str, type_: &str) -> String {
        let Self { struct_, path } = self;
        format!("json: cannot unmarshal {found} into Go struct field {struct_}.{path} of type {type_}")
    }
}

fn check_fields(fields: &Map<String, Value>, schema: &Value, path: &str) -> Result<(), String> {
    for (name, value) in fields {
        if let Property::Schema(property) = property_schema(schema, name) {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            check(value, property, &FieldPath { struct_: bare_name(schema), path: &path })?;
        }
    }
    Ok(())
}

fn check(value: &Value, schema: &Value, at: &FieldPath<'_>) -> Result<(), String> {
    let fits = match (keyword(schema, "title").unwrap_or_default(), keyword(schema, "type").unwrap_or_default()) {
        _ if value.is_null() => true,
        ("resource.Quantity", _) => return check_quantity(value),
        ("intstr.IntOrString", _) => value.is_string() || fits_integer(value, Some("int32")),
        (_, "string") => return check_text(value, schema, at),
        (_, "integer") => fits_integer(value, keyword(schema, "format")),
        (_, "number") => value.is_number(),
        (_, "boolean") => value.is_boolean(),
        (_, "array") => return check_items(value, schema, at),
        (_, "object") => return check_object(value, schema, at),
        _ => true,
    };
    if fits { Ok(()) } else { Err(at.unmarshal_error(&describe(value, schema), &go_type(schema))) }
}

fn check_text(value: &Value, schema: &Value, at: &FieldPath<'_>) -> Result<(), String> {
    let Some(text) = value.as_str() else {
        return Err(at.unmarshal_error(json_type(value), &go_type(schema)));
    };
    match keyword(schema, "format").or(keyword(schema, "title")) {
        Some("date-time") if text.parse::<jiff::Timestamp>().is_err() => {
            let layout = match keyword(schema, "title") {
                Some("v1.MicroTime") => "2006-01-02T15:04:05.000000Z07:00",
                _ => "2006-01-02T15:04:05Z07:00",
            };
            Err(format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""))
        }
        Some(BYTES) if serde_json::from_value::<ByteString>(value.clone()).is_err() => {
            Err(format!("illegal base64 data at input byte {}", first_illegal_byte(text)))
        }
        _ => Ok(()),
    }
}

fn check_quantity(value: &Value) -> Result<(), String> {
    match value.as_str() {
        _ if Quantity::from_json(value).is_some() => Ok(()),
        Some(text) if looks_like_quantity(text) => Err(SUFFIX.to_owned()),
        _ => Err(QUANTITY.to_owned()),
    }
}

fn check_items(value: &Value, schema: &Value, at: &FieldPath<'_>) -> Result<(), String> {
    let Some(items) = value.as_array() else {
        return Err(at.unmarshal_error(json_type(value), &go_type(schema)));
    };
    let item = item_schema(schema);
    items.iter().try_for_each(|value| item.map_or(Ok(()), |schema| check(value, schema, at)))
}

fn check_object(value: &Value, schema: &Value, at: &FieldPath<'_>) -> Result<(), String> {
    let Some(fields) = value.as_object() else {
        return Err(at.unmarshal_error(json_type(value), &go_type(schema)));
    };
    if schema.get("properties").is_some() {
        return check_fields(fields, schema, at.path);
    }
    fields.iter().try_for_each(|(name, value)| match property_schema(schema, name) {
        Property::Schema(property) => check(value, property, at),
        Property::Any | Property::Unknown => Ok(()),
    })
}

fn fits_integer(value: &Value, format: Option<&str>) -> bool {
    value.as_i64().is_some_and(|number| format != Some("int32") || i32::try_from(number).is_ok())
}

/// Returns whether the text has the syntax of a quantity: a number, a suffix of letters and an optional exponent.
fn looks_like_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let exponent = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let number = &unsigned[..unsigned.len() - suffix.len()];
    !number.is_empty() && number.matches('.').count() < 2 && digits.chars().all(|c| c.is_ascii_digit())
}

/// Returns the offset at which Go's base64 decoder fails: an invalid character, data after the padding, or an
/// incomplete quantum.
fn first_illegal_byte(text: &str) -> usize {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    for (index, quantum) in text.as_bytes().chunks(4).enumerate() {
        let start = index * 4;
        match quantum.iter().position(|byte| !is_digit(byte)) {
            None if quantum.len() < 4 => return start,
            None => {}
            Some(2) if quantum[2..] == *b"=" => return start + 3,
            Some(2) if quantum[2..] == *b"==" => return start + 4,
            Some(3) if quantum[3..] == *b"=" => return start + 4,
            Some(offset) => return start + offset,
        }
    }
    text.len()
}

/// Describes a value in an error. Numbers out of range are included.
fn describe(value: &Value, schema: &Value) -> String {
    match value {
        Value::Number(number) if keyword(schema, "type") == Some("integer") => format!("number {number}"),
        other => json_type(other).to_owned(),
    }
}

/// Returns the Go type of a schema.
fn go_type(schema: &Value) -> String {
    let type_name = |schema: Option<&Value>| schema.map(go_type).unwrap_or_default();
    match (keyword(schema, "type"), keyword(schema, "format")) {
        (Some("string"), _) if keyword(schema, "title") == Some(BYTES) => BYTES.to_owned(),
        (Some("string"), _) => "string".to_owned(),
        (Some("boolean"), _) => "bool".to_owned(),
        (Some("integer"), format) => format.unwrap_or("int64").to_owned(),
        (Some("number"), _) => "float64".to_owned(),
        (Some("array"), _) => format!("[]{}", type_name(item_schema(schema))),
        (Some("object"), _) if keyword(schema, "title").is_none() => match property_schema(schema, "") {
            Property::Schema(value) => format!("map[string]{}", go_type(value)),
            Property::Any | Property::Unknown => "map[string]interface {}".to_owned(),
        },
        // An `IntOrString` is decoded as a number unless it is a string.
        (None, _) => "int32".to_owned(),
        _ => keyword(schema, "title").unwrap_or_default().to_owned(),
    }
}

fn bare_name(schema: &Value) -> &str {
    let title = keyword(schema, "title").unwrap_or_default();
    title.rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_base64_is_reported_at_the_offset_of_go() {
        let cases = [
            ("%%", 0),
            ("YQ=", 3),
            ("YQ", 0),
            ("YWJj%", 4),
            ("YWJjY", 4),
            ("YQ==x", 4),
            ("YW=j", 2),
            ("=", 0),
            ("Y Q=", 1),
            ("YWJjYQ=", 7),
            ("abc%efgh", 3),
        ];
        for (text, offset) in cases {
            assert_eq!(first_illegal_byte(text), offset, "{text}");
        }
    }

    #[test]
    fn quantities_are_numbers_with_a_suffix() {
        for yes in ["1", "-1.5", "100m", "1Gi", "1e3", "1E-3", "+.5k"] {
            assert!(looks_like_quantity(yes), "{yes}");
        }
        for no in ["", "x", "Gi", "1 Gi", "1x", "1Gi1x"] {
            assert!(!looks_like_quantity(no), "{no}");
        }
    }
}
