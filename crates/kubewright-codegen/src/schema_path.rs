//! Locations of schemas within a schema: as JSON pointers, and as paths of values.

use serde_json::Value;

/// The location of a schema within another: the tokens of a JSON pointer, such as `properties`, `spec`, `items`.
pub(crate) type Pointer = Vec<String>;

/// Returns the location of a path such as `.spec.items[]` in a schema. Names with dots are resolved to the longest
/// match.
pub(crate) fn pointer_of_path(schema: &Value, path: &str) -> Pointer {
    let (mut node, mut rest, mut pointer) = (schema, path, Pointer::new());
    loop {
        let next = match rest {
            "" => return pointer,
            _ if rest.starts_with("[]") => node.get("items").map(|below| (below, &rest[2..], None)),
            _ if rest.starts_with("{}") => node.get("additionalProperties").map(|below| (below, &rest[2..], None)),
            _ => property(node, rest),
        };
        let Some((below, after, name)) = next else { return pointer };
        match name {
            Some(name) => pointer.extend(["properties".to_owned(), name.to_owned()]),
            None if rest.starts_with('[') => pointer.push("items".to_owned()),
            None => pointer.push("additionalProperties".to_owned()),
        }
        (node, rest) = (below, after);
    }
}

/// Returns the property that a path starts with, and the rest of the path.
fn property<'a, 'b>(node: &'a Value, path: &'b str) -> Option<(&'a Value, &'b str, Option<&'a str>)> {
    let path = path.strip_prefix('.')?;
    let properties = node.get("properties")?.as_object()?;
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[', '{']);
    let matching = properties.iter().filter(|(name, _)| path.strip_prefix(name.as_str()).is_some_and(is_end));
    let (name, below) = matching.max_by_key(|(name, _)| name.len())?;
    Some((below, &path[name.len()..], Some(name)))
}

/// Returns a location as the path of a value, such as `.spec.items[]`.
pub(crate) fn path_of_pointer(pointer: &[String]) -> String {
    let mut path = String::new();
    let mut tokens = pointer.iter();
    while let Some(token) = tokens.next() {
        match token.as_str() {
            "properties" => {
                path.push('.');
                path.push_str(tokens.next().map_or("", |name| name));
            }
            "items" => path.push_str("[]"),
            _ => path.push_str("{}"),
        }
    }
    path
}

/// Returns a location as a simple JSON path, such as `.spec.node\.example`, and `None` below a list or map.
pub(crate) fn json_path_of_pointer(pointer: &[String]) -> Option<String> {
    let mut path = String::new();
    for tokens in pointer.chunks(2) {
        let ["properties", name] = [tokens.first()?.as_str(), tokens.get(1)?.as_str()] else { return None };
        path.push('.');
        for c in name.chars() {
            if ".[]\\*,$@{}".contains(c) || c.is_whitespace() {
                path.push('\\');
            }
            path.push(c);
        }
    }
    Some(path)
}

/// Returns a location as the text of a JSON pointer (RFC 6901), such as `/properties/spec/items`.
pub(crate) fn text_of_pointer(pointer: &[String]) -> String {
    pointer.iter().map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Returns the schema at a location.
pub(crate) fn at_pointer<'a>(schema: &'a Value, pointer: &[String]) -> Option<&'a Value> {
    pointer.iter().try_fold(schema, |node, token| node.get(token))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_resolved_to_the_longest_name() {
        let schema =
            json!({"properties": {"a": {}, "a.b": {"items": {"additionalProperties": {"properties": {"c": {}}}}}}});
        let pointer = pointer_of_path(&schema, ".a.b[]{}.c");
        assert_eq!(pointer, ["properties", "a.b", "items", "additionalProperties", "properties", "c"]);
        assert_eq!(path_of_pointer(&pointer), ".a.b[]{}.c");
        assert_eq!(pointer_of_path(&schema, ".a"), ["properties", "a"]);
        assert_eq!(json_path_of_pointer(&pointer[..2]).as_deref(), Some(r".a\.b"));
        assert_eq!(json_path_of_pointer(&pointer), None);
        let pointer = pointer_of_path(&json!({"properties": {"a/~b": {}}}), ".a/~b");
        assert_eq!(text_of_pointer(&pointer), "/properties/a~1~0b");
    }
}
