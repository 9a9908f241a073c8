//! How large a definition is where it must fit: in the annotation that `kubectl apply` writes.

use std::fmt::Write;

use serde_json::Value;

/// The annotation's key.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The bytes of all annotations after `kubectl apply`: the object in one line of JSON, as Go writes it, and a newline; what
/// counts for the bound are keys and values.
pub(crate) fn applied(crd: &Value) -> usize {
    let metadata = crd.get("metadata").and_then(Value::as_object);
    let own = metadata.and_then(|metadata| metadata.get("annotations")).and_then(Value::as_object);
    let emptied = if own.is_some() { 0 } else { r#""annotations":{},"#.len() };
    let own = own.into_iter().flatten().map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len());
    own.sum::<usize>() + LAST_APPLIED.len() + in_json(crd) + emptied + "\n".len()
}

/// The bytes of a value in one line of JSON, as Go writes it: `<`, `>` and `&` are escaped, and two kinds of line ends.
pub(crate) fn in_json(value: &Value) -> usize {
    let text = value.to_string();
    let escaped = text.chars().map(|c| match c {
        '<' | '>' | '&' => 5,
        '\u{2028}' | '\u{2029}' => 3,
        _ => 0,
    });
    text.len() + escaped.sum::<usize>()
}

/// A field and its bytes.
struct Field {
    path: String,
    /// With all that is below it.
    bytes: usize,
    /// Of these, what descriptions take.
    descriptions: usize,
}

/// The largest fields below those of the object itself, for an error.
pub(crate) fn largest(crd: &Value, count: usize) -> String {
    let mut fields = fields(crd);
    fields.retain(|field| field.path.matches('.').count() > 1);
    fields.sort_by_key(|field| std::cmp::Reverse(field.bytes));
    let named = fields.iter().take(count).map(|field| format!("`{}` ({} bytes)", field.path, field.bytes));
    named.collect::<Vec<_>>().join(", ")
}

/// A table of the fields that take a hundredth of the definition at least, the largest first.
pub(crate) fn report(name: &str, crd: &Value, max_bytes: usize) -> String {
    let all = applied(crd);
    let bound = if max_bytes == 0 { String::new() } else { format!(" of {max_bytes}") };
    let mut text = format!("{name}: {all}{bound} bytes as `kubectl apply` keeps it\n");
    let mut fields = fields(crd);
    fields.retain(|field| field.bytes * 100 >= all);
    fields.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    for Field { path, bytes, descriptions } in fields {
        writeln!(text, "{bytes:>9}  {descriptions:>9} in descriptions  {path}").expect("a String takes everything");
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

/// Notes the fields below a schema; tells how many bytes descriptions take in it.
fn collect(schema: &Value, path: &str, found: &mut Vec<Field>) -> usize {
    let own = schema.get("description").filter(|text| text.is_string()).map_or(0, in_json);
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields = properties.into_iter().flatten().map(|(name, field)| (format!("{path}.{name}"), field));
    let items = schema.get("items").map(|items| (format!("{path}[]"), items));
    let values = schema.get("additionalProperties").map(|values| (format!("{path}{{}}"), values));
    let mut descriptions = own;
    for (path, field) in fields.chain(items).chain(values) {
        let below = collect(field, &path, found);
        descriptions += below;
        found.push(Field { path, bytes: in_json(field), descriptions: below });
    }
    descriptions
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn go_escapes_more() {
        assert_eq!(in_json(&json!("a<b>&c")), r#""a\u003cb\u003e\u0026c""#.len());
        assert_eq!(in_json(&json!("\u{2028}")), r#""\u2028""#.len());
        assert_eq!(in_json(&json!({"ü": [1, 2.5, null]})), r#"{"ü":[1,2.5,null]}"#.len());
    }

    #[test]
    fn fields_are_told_with_their_bytes() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "names": {"type": "array", "items": {"type": "string", "description": "One"}},
        }}}});
        let crd = json!({"metadata": {"name": "w"}, "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}});
        let told = report("widgets.example.com", &crd, 300);
        let expected = "\
widgets.example.com: 300 of 300 bytes as `kubectl apply` keeps it
      103          5 in descriptions  v1.spec
       62          5 in descriptions  v1.spec.names
       37          5 in descriptions  v1.spec.names[]
";
        assert_eq!(told, expected);
        assert_eq!(largest(&crd, 1), "`v1.spec.names` (62 bytes)");
    }
}
