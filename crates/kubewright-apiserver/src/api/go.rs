//! Go's formatting of values and its handling of numbers, for error messages, decoding and limits.

use std::io;

use serde::Serialize;
use serde_json::{Number, Value};

/// Formats a value as `%v`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}:{}", text(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// Formats a value as `%#v`.
pub(crate) fn syntax(value: &Value) -> String {
    let items = match value {
        Value::Array(items) => items.iter().map(syntax).collect::<Vec<_>>(),
        Value::Object(fields) => fields.iter().map(|(name, value)| format!("{name:?}:{}", syntax(value))).collect(),
        Value::Null => return "interface {}(nil)".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.to_string(),
    };
    format!("{}{{{}}}", type_name(value), items.join(", "))
}

/// Returns the type of a value as `%T`.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Returns the Go package of the types of a group.
pub(crate) fn package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    }
}

/// Replaces floats without a fraction by integers: `5.0` is 5, as after decoding and encoding by Go.
pub(crate) fn normalize_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = as_integer(number) {
                *number = integer;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize_numbers),
        Value::Object(fields) => fields.values_mut().for_each(normalize_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns the integer that Go encodes in place of a number, if it differs.
fn as_integer(number: &Number) -> Option<Number> {
    // Go decodes integers beyond int64 as floats, and encodes those as integers again.
    if let Some(large) = number.as_u64().filter(|_| !number.is_i64()) {
        return (large as f64).to_string().parse::<u64>().ok().map(Number::from);
    }
    /// From this value on, not every integer is representable as a float.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < MAX_EXACT)?;
    format!("{float:.0}").parse::<i64>().ok().map(Number::from)
}

/// Returns whether Go omits the value of an `omitempty` field. A struct is never empty.
pub(crate) fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}

/// Returns the length of the JSON encoding of a value in bytes. Nothing is allocated.
pub(crate) fn json_size(value: &impl Serialize) -> usize {
    let mut counter = ByteCounter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => usize::MAX,
    }
}

/// Counts bytes, with the characters that Go escapes for HTML.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let escaped = bytes.iter().filter(|byte| matches!(byte, b'<' | b'>' | b'&')).count();
        self.0 += bytes.len() + escaped * (r"\u003c".len() - 1);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_size_is_that_of_the_json_of_go() {
        assert_eq!(json_size(&json!({ "a": [1, null, "x"] })), r#"{"a":[1,null,"x"]}"#.len());
        assert_eq!(json_size(&json!("<&>")), r#""\u003c\u0026\u003e""#.len());
    }
}
