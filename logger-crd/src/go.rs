//! Values as Go writes them, in the texts of refusals.

use std::fmt::Write;

use serde_json::{Number, Value};

/// A JSON type as Go's decoder names it.
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

/// `%q`: in quotes, with what cannot be printed escaped.
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

/// `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII space.
pub(crate) fn is_print(c: char) -> bool {
    // Only the first character of a text is escaped for being a mark.
    let after_a = ['a', c].iter().collect::<String>();
    !after_a.escape_debug().skip(1).collect::<String>().starts_with("\\u{") && !c.is_control()
}

/// `json.Marshal`: the fields of an object by name, `<`, `>` and `&` escaped, whole floats without a point.
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
        Value::String(text) => out.push_str(&json_text(text)),
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
                out.push_str(&json_text(name));
                out.push(':');
                push_json(out, field);
            }
            out.push('}');
        }
    }
}

/// A JSON text as Go writes it.
pub(crate) fn json_text(text: &str) -> String {
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

/// `%v`: texts bare, floats as short as they can be.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => float(number).map_or_else(|| number.to_string(), plain_float),
        Value::Null => "<nil>".to_owned(),
        other => json(other),
    }
}

/// `%v` of a `float64`.
pub(crate) fn plain_float(value: f64) -> String {
    let size = value.abs();
    let exponent = size != 0.0 && !(1e-4..1e6).contains(&size);
    if exponent { with_exponent(value, 2) } else { value.to_string() }
}

/// `1.5e+21`, with at least so many digits in the exponent.
fn with_exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{mantissa}e{sign}{exponent:0>digits$}")
}

/// The number as a `float64`, unless Go holds it as an `int64`.
pub(crate) fn float(number: &Number) -> Option<f64> {
    if number.is_i64() { None } else { number.as_f64() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        assert_eq!(quoted("a\"\\\n\u{7f}\u{200b}é'\u{1}"), r#""a\"\\\n\x7f\u200bé'\x01""#);
    }

    #[test]
    fn json_is_as_go_marshals_it() {
        let value = json!({"b": [1, 1.0, 1.5, 1e21, 1e-7], "a": "<&>", "c": null});
        assert_eq!(json(&value), r#"{"a":"\u003c\u0026\u003e","b":[1,1,1.5,1e+21,1e-7],"c":null}"#);
    }

    #[test]
    fn plain_floats_are_short() {
        let cases = [(1.0, "1"), (0.5, "0.5"), (1e21, "1e+21"), (0.00001, "1e-05"), (123_456_789.0, "1.23456789e+08")];
        for (value, text) in cases {
            assert_eq!(plain_float(value), text);
        }
    }
}
