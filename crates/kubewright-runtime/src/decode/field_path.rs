//! The path of the field at a position of JSON text. It works for any kind without further generated code.

use std::fmt::Write;

/// An open object or array.
enum Open<'a> {
    /// The object, and its last key.
    Object(Option<&'a str>),
    /// The array, and the position of its last element.
    Array(usize),
}

/// Returns the path of the value that ends at or contains a position, such as `spec.ports[0].port`. The line and the
/// column are those of an error of serde_json: both start at 1, and columns are bytes.
pub(super) fn field_path(json: &str, line: usize, column: usize) -> String {
    let start: usize = json.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let bytes = json.as_bytes();
    let end = start.saturating_add(column).min(bytes.len());
    // A position can include the comma after the value.
    let end = bytes.get(..end).map_or(0, |before| before.trim_ascii_end().strip_suffix(b",").unwrap_or(before).len());
    let (mut open, mut at) = (Vec::new(), 0);
    while at < end {
        match bytes.get(at) {
            Some(b'"') => {
                let closing = closing_quote(bytes, at);
                let is_key = bytes.get(closing + 1..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"));
                if let (true, Some(Open::Object(key))) = (is_key, open.last_mut()) {
                    *key = json.get(at + 1..closing);
                }
                at = closing;
            }
            Some(b'{') => open.push(Open::Object(None)),
            Some(b'[') => open.push(Open::Array(0)),
            Some(b'}' | b']') => drop(open.pop()),
            Some(b',') => {
                if let Some(Open::Array(index)) = open.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    path(&open)
}

/// Returns the position of the quote that ends the string that starts at a position.
fn closing_quote(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn path(open: &[Open<'_>]) -> String {
    let mut path = String::new();
    for part in open {
        match part {
            Open::Object(Some(key)) if path.is_empty() => path.push_str(key),
            Open::Object(Some(key)) => path.extend([".", *key]),
            Open::Object(None) => {}
            Open::Array(index) => write!(path, "[{index}]").expect("writing to a string cannot fail"),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Service;

    use super::*;

    /// Returns the path of the error of decoding this Service.
    fn path_of(json: &str) -> String {
        let error = serde_json::from_str::<Service>(json).unwrap_err();
        field_path(json, error.line(), error.column())
    }

    #[test]
    fn the_path_is_that_of_the_invalid_field() {
        for (json, path) in [
            (
                r#"{"metadata":{"name":"a"},"spec":{"type":"x","ports":[{"port":1},{"port":"80"}]}}"#,
                "spec.ports[1].port",
            ),
            (r#"{"metadata":{"name":"a","labels":{"a":"b,}","c":3}},"spec":{}}"#, "metadata.labels.c"),
            (r#"{"metadata":{"name":"a"},"spec":{"type":true,"sessionAffinity":"None"}}"#, "spec.type"),
            (r#"{"metadata":{"name":"a"},"spec":"text"}"#, "spec"),
            ("{\n  \"metadata\": {\"name\": \"a\"},\n  \"spec\": {\n    \"type\": 7\n  }\n}", "spec.type"),
        ] {
            assert_eq!(path_of(json), path, "{json}");
        }
    }

    #[test]
    fn a_position_outside_the_text_gives_some_path() {
        assert_eq!(field_path("", 0, 0), "");
        assert_eq!(field_path(r#"{"a":[1"#, 9, 99), "a[0]");
        assert_eq!(field_path(r#"{"a":"unterminated"#, 1, 12), "a");
    }
}
