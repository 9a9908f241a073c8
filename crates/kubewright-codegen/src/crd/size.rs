//! The size of a definition in the annotation that `kubectl apply` writes.

use std::fmt::Write;

use serde_json::Value;

/// The key of the annotation.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the size of all annotations after `kubectl apply`, which stores the object as one line of JSON in Go's
/// encoding and a newline. Keys and values count towards the limit.
pub(crate) fn annotations(crd: &Value) -> usize {
    let metadata = crd.get("metadata").and_then(Value::as_object);
    let annotations = metadata.and_then(|metadata| metadata.get("annotations")).and_then(Value::as_object);
    let empty = if annotations.is_some() { 0 } else { r#""annotations":{},"#.len() };
    let annotations =
        annotations.into_iter().flatten().map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len());
    annotations.sum::<usize>() + LAST_APPLIED.len() + json_len(crd) + empty + "\n".len()
}

/// Returns the length of a value as one line of JSON in Go's encoding, which escapes `<`, `>`, `&`, U+2028 and U+2029.
pub(crate) fn json_len(value: &Value) -> usize {
    let text = value.to_string();
    let escaped = text.chars().map(|c| match c {
        '<' | '>' | '&' => 5,
        '\u{2028}' | '\u{2029}' => 3,
        _ => 0,
    });
    text.len() + escaped.sum::<usize>()
}

/// The size of a field.
struct Field {
    path: String,
    /// Its size, including all fields below it.
    bytes: usize,
    /// The part of the size that descriptions take.
    descriptions: usize,
}

/// Returns the largest fields below `spec`, `status` and so on, for an error.
pub(crate) fn largest(crd: &Value, count: usize) -> String {
    let mut fields = fields(crd);
    fields.retain(|field| field.path.matches('.').count() > 1);
    fields.sort_by_key(|field| std::cmp::Reverse(field.bytes));
    let named = fields.iter().take(count).map(|field| format!("`{}` ({} bytes)", field.path, field.bytes));
    named.collect::<Vec<_>>().join(", ")
}

/// Returns a table of the fields that take at least one percent of the definition, the largest first.
pub(crate) fn report(name: &str, crd: &Value, max_bytes: usize) -> String {
    let all = annotations(crd);
    let limit = if max_bytes == 0 { String::new() } else { format!(" of {max_bytes}") };
    let mut text = format!("{name}: {all}{limit} bytes as `kubectl apply` stores it\n");
    let mut fields = fields(crd);
    fields.retain(|field| field.bytes * 100 >= all);
    fields.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    for Field { path, bytes, descriptions } in fields {
        writeln!(text, "{bytes:>9}  {descriptions:>9} in descriptions  {path}")
            .expect("writing to a String never fails");
    }
    text
}

fn fields(crd: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    for version in crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten() {
        let name = version["name"].as_str().unwrap_or_default();
        collect(&version["schema"]["openAPIV3Schema"], name, &mut found);
    }
    found
}

/// Collects the fields below a schema; returns the size of its descriptions.
fn collect(schema: &Value, path: &str, found: &mut Vec<Field>) -> usize {
    let description_size = schema.get("description").filter(|text| text.is_string()).map_or(0, json_len);
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields = properties.into_iter().flatten().map(|(name, field)| (format!("{path}.{name}"), field));
    let items = schema.get("items").map(|items| (format!("{path}[]"), items));
    let values = schema.get("additionalProperties").map(|values| (format!("{path}{{}}"), values));
    let mut descriptions = description_size;
    for (path, field) in fields.chain(items).chain(values) {
        let below = collect(field, &path, found);
        descriptions += below;
        found.push(Field { path, bytes: json_len(field), descriptions: below });
    }
    descriptions
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lengths_are_those_of_go() {
        assert_eq!(json_len(&json!("a<b>&c")), r#""a\u003cb\u003e\u0026c""#.len());
        assert_eq!(json_len(&json!("\u{2028}")), r#""\u2028""#.len());
        assert_eq!(json_len(&json!({"ü": [1, 2.5, null]})), r#"{"ü":[1,2.5,null]}"#.len());
    }

    #[test]
    fn fields_are_listed_with_their_sizes() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "names": {"type": "array", "items": {"type": "string", "description": "One"}},
        }}}});
        let crd = json!({"metadata": {"name": "w"}, "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}});
        let text = report("widgets.example.com", &crd, 300);
        let expected = "\
widgets.example.com: 300 of 300 bytes as `kubectl apply` stores it
      103          5 in descriptions  v1.spec
       62          5 in descriptions  v1.spec.names
       37          5 in descriptions  v1.spec.names[]
";
        assert_eq!(text, expected);
        assert_eq!(largest(&crd, 1), "`v1.spec.names` (62 bytes)");
    }
}
