//! The `fieldPath` of a rule: the field at which a violation is reported.

use super::Structural;

/// Normalizes a path as the server does; `None` if it is invalid or names no field of the schema.
pub(crate) fn normalize(path: &str, mut schema: &Structural) -> Option<String> {
    let tokens = tokenize(path)?;
    let mut tokens = tokens.iter().map(String::as_str);
    let mut normalized = String::new();
    while let Some(token) = tokens.next() {
        let name = match token {
            "." => tokens.next()?.to_owned(),
            "[" => {
                let quoted = tokens.next()?;
                let inner = quoted.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''))?;
                let name = unescape(inner)?;
                (tokens.next()? == "]").then_some(name)?
            }
            _ => return None,
        };
        if schema.properties.is_some() {
            schema = schema.property(&name)?;
            if !normalized.is_empty() {
                normalized.push('.');
            }
            normalized.push_str(&name);
        } else {
            // The server requires a schema in `additionalProperties` here; `true` is not enough.
            schema = schema.additional_properties.as_deref()?;
            normalized.push_str(&format!("[{name}]"));
        }
    }
    Some(normalized)
}

/// Splits a path into delimiters, quoted strings and names.
fn tokenize(path: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '.' | '[' | ']' => 1,
            '\'' => quoted_length(rest)?,
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    Some(tokens)
}

/// The length of the quoted string at the start of a text, quotes included.
fn quoted_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (1..bytes.len()).find(|&at| bytes[at] == b'\'' && bytes[at - 1] != b'\\').map(|at| at + 1)
}

fn unescape(text: &str) -> Option<String> {
    let mut unescaped = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            unescaped.push(c);
            continue;
        }
        unescaped.push(match chars.next()? {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            c @ ('\'' | '\\') => c,
            _ => return None,
        });
    }
    Some(unescaped)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_normalized_if_they_name_a_field_of_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b.c": {"type": "string"}}},
            "m": {
                "type": "object",
                "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}},
            },
        }});
        let schema = Structural::decode(&schema);
        for (path, expected) in [
            (".a", Some("a")),
            (".a['b.c']", Some("a.b.c")),
            ("['a']", Some("a")),
            (".m.key.x", Some("m[key].x")),
            (".m['k']", Some("m[k]")),
            ("a", None),
            (".z", None),
            (".a[b]", None),
            (".a.", None),
            (".a['b.c'", None),
        ] {
            assert_eq!(normalize(path, &schema).as_deref(), expected, "{path}");
        }
    }
}
