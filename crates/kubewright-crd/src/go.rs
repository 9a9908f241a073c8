//! JSON values as Go formats them, for error messages.

use std::fmt::Write;

use serde_json::{Number, Value};

/// Returns the name of a JSON type in the errors of Go's decoder.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Formats a string as `%q`: in quotes, with characters that are not printable escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_escaped(&mut out, c);
    }
    out.push('"');
    out
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        _ if is_print(c) => out.push(c),
        _ => {
            let code = u32::from(c);
            let written = match code {
                0..0x20 | 0x7f => write!(out, "\\x{code:02x}"),
                0x20..0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
            written.expect("a String takes everything");
        }
    }
}

/// Whether `unicode.IsPrint` accepts a character: letters, marks, numbers, punctuation, symbols, and the ASCII space.
pub(crate) fn is_print(c: char) -> bool {
    // `escape_debug` escapes a combining mark only if it is the first character.
    let after_a = ['a', c].iter().collect::<String>();
    !after_a.escape_debug().skip(1).collect::<String>().starts_with("\\u{") && !c.is_control()
}

/// Formats a value as `json.Marshal`: object keys sorted, `<`, `>` and `&` escaped, integral floats without a fraction.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    push_json(&mut out, value);
    out
}

fn push_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&json_number(number)),
        Value::String(text) => out.push_str(&json_string(text)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                push_json(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&json_string(name));
                out.push(':');
                push_json(out, field);
            }
            out.push('}');
        }
    }
}

/// Returns the approximate length of the JSON of a value in bytes.
pub(crate) fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_size(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len() + json_size(field) + 4).sum::<usize>() + 2
        }
    }
}

/// Formats a string as `json.Marshal`.
pub(crate) fn json_string(text: &str) -> String {
    let plain = Value::from(text).to_string();
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes everything");
            }
            _ => out.push(c),
        }
    }
    out
}

fn json_number(number: &Number) -> String {
    match float(number) {
        None => number.to_string(),
        Some(value) => {
            let size = value.abs();
            let exponent = size != 0.0 && !(1e-6..1e21).contains(&size);
            if exponent { with_exponent(value, 1) } else { value.to_string() }
        }
    }
}

/// Formats a value as `%v`: strings without quotes, floats in their shortest representation.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => float(number).map_or_else(|| number.to_string(), plain_float),
        Value::Null => "<nil>".to_owned(),
        other => json(other),
    }
}

/// Formats a `float64` as `%v`.
pub(crate) fn plain_float(value: f64) -> String {
    let size = value.abs();
    let exponent = size != 0.0 && !(1e-4..1e6).contains(&size);
    if exponent { with_exponent(value, 2) } else { value.to_string() }
}

/// Formats a float as `1.5e+21`, with at least `digits` digits in the exponent.
fn with_exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>digits$}")
}

/// Returns the number as a `float64`, unless Go decodes it to an `int64`.
pub(crate) fn float(number: &Number) -> Option<f64> {
    if number.is_i64() { None } else { number.as_f64() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_are_quoted_as_in_go() {
        assert_eq!(quoted("a\"\\\n\u{7f}\u{200b}é'\u{1}"), r#""a\"\\\n\x7f\u200bé'\x01""#);
    }

    #[test]
    fn json_is_marshaled_as_in_go() {
        let value = json!({"b": [1, 1.0, 1.5, 1e21, 1e-7], "a": "<&>", "c": null});
        assert_eq!(json(&value), r#"{"a":"\u003c\u0026\u003e","b":[1,1,1.5,1e+21,1e-7],"c":null}"#);
    }

    #[test]
    fn plain_floats_are_formatted_as_in_go() {
        let cases = [(1.0, "1"), (0.5, "0.5"), (1e21, "1e+21"), (0.00001, "1e-05"), (123_456_789.0, "1.23456789e+08")];
        for (value, text) in cases {
            assert_eq!(plain_float(value), text);
        }
    }
}
