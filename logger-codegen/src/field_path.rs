//! Checks the JSON paths of columns, scale subresources and selectable fields against a structural schema.
// The seam for the check of `logger_crd`: all callers use `check`.

use serde_json::Value;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// One step of a JSON path.
#[derive(Debug, PartialEq)]
enum Step {
    /// A field or the key of a map.
    Name(String),
    /// Items of a list: an index, a slice, a wildcard or a filter.
    Items,
    /// Any fields: a wildcard or a recursive descent.
    Any,
}

/// Checks that a path leads to a value of a type in a schema: `boolean`, `date`, `integer`, `number` or `string` of a column, or
/// `selector`. Parts that the schema does not describe are accepted.
///
/// # Errors
/// There is no such field, or it has another type.
pub(crate) fn check(schema: &Value, path: &str, expected: &str) -> Result<(), String> {
    let Some(steps) = parse(path) else { return Ok(()) };
    let Some(node) = resolve(schema, &steps, path)? else { return Ok(()) };
    let Some(found) = node.get("type").and_then(Value::as_str).filter(|_| node.get(INT_OR_STRING).is_none()) else {
        return Ok(());
    };
    let is_accepted = match expected {
        "boolean" => found == "boolean",
        "date" => found == "string",
        "integer" | "number" => ["integer", "number"].contains(&found),
        "selector" => found == "string",
        // Columns print any value as a string.
        _ => true,
    };
    match is_accepted {
        true => Ok(()),
        false => {
            let expected = if ["date", "selector"].contains(&expected) { "string" } else { expected };
            Err(format!("`{path}` has the type `{found}`, expected `{expected}`"))
        }
    }
}

/// Returns the schema at a path; `None` if the schema does not describe it.
fn resolve<'a>(schema: &'a Value, steps: &[Step], path: &str) -> Result<Option<&'a Value>, String> {
    let (mut node, mut parent) = (schema, String::new());
    for (i, step) in steps.iter().enumerate() {
        let is_open = node.get(PRESERVE) == Some(&Value::Bool(true)) || node.get("type").is_none();
        let next = match step {
            Step::Any => return Ok(None),
            // The server defines the fields of the metadata.
            Step::Name(name) if i == 0 && name == "metadata" => return Ok(None),
            Step::Name(name) if is_embedded(node) && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) => {
                return Ok(None);
            }
            Step::Name(name) => {
                let field = node.get("properties").and_then(|properties| properties.get(name));
                field.or_else(|| node.get("additionalProperties").filter(|values| values.is_object()))
            }
            Step::Items => node.get("items"),
        };
        match (next, step) {
            (Some(next), _) => node = next,
            (None, _) if is_open || node.get("additionalProperties").is_some() => return Ok(None),
            (None, Step::Name(name)) => return Err(unknown_field(node, &parent, name, path)),
            (None, _) => return Err(format!("`{path}`: `{parent}` is not a list")),
        }
        match step {
            Step::Name(name) => parent = format!("{parent}.{name}"),
            _ => parent += "[]",
        }
    }
    Ok(Some(node))
}

fn is_embedded(node: &Value) -> bool {
    node.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true))
}

fn unknown_field(node: &Value, parent: &str, name: &str, path: &str) -> String {
    let names = node.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
    let similar = names
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(similarity, _)| *similarity > 0.8)
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    let hint = similar.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"));
    let parent = if parent.is_empty() { "the object".to_owned() } else { format!("`{parent}`") };
    format!("`{path}`: {parent} has no field `{name}`{hint}")
}

/// Parses a JSON path; `None` if its syntax is unknown.
fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if rest.starts_with("..") {
            steps.push(Step::Any);
            return Some(steps);
        }
        if let Some(inside) = rest.strip_prefix('[') {
            let (content, after) = bracket(inside)?;
            let quoted = ['\'', '"'].iter().find_map(|quote| content.strip_prefix(*quote)?.strip_suffix(*quote));
            steps.push(quoted.map_or(Step::Items, |name| Step::Name(name.to_owned())));
            rest = after;
            continue;
        }
        let (name, after) = name(rest.strip_prefix('.')?);
        match name.as_str() {
            "" => return None,
            "*" => steps.push(Step::Any),
            _ => steps.push(Step::Name(name)),
        }
        rest = after;
    }
    Some(steps)
}

/// Returns the content of a bracket, and the rest of the path.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut quote) = (1, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// Returns a name with its escapes resolved, and the rest of the path.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            c => name.push(c),
        }
    }
    (name, "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let condition = json!({"type": "object", "properties": {"status": {"type": "string"}}});
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"},
                "size": {"x-kubernetes-int-or-string": true},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "template": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
                "a.b": {"type": "boolean"},
            }},
            "status": {"type": "object", "properties": {"conditions": {"type": "array", "items": condition}}},
        }})
    }

    #[test]
    fn existing_fields_are_accepted() {
        for (path, ty) in [
            (".spec.replicas", "integer"),
            (".spec.replicas", "string"),
            (".spec.size", "integer"),
            (".spec.labels.any", "string"),
            (".spec.labels['a.b/c']", "string"),
            (".spec.raw.any[0].thing", "date"),
            (".spec.template.metadata.name", "string"),
            (r".spec.a\.b", "boolean"),
            (".spec['a.b']", "boolean"),
            (".status.conditions[?(@.type==\"Ready[]\")].status", "string"),
            (".status.conditions[*]..status", "integer"),
            (".status.*", "integer"),
            (".metadata.creationTimestamp", "date"),
        ] {
            assert_eq!(check(&schema(), path, ty), Ok(()), "{path}");
        }
    }

    #[test]
    fn unknown_fields_and_other_types_are_errors() {
        for (path, ty, expected) in [
            (".spec.replica", "integer", "`.spec.replica`: `.spec` has no field `replica`; did you mean `replicas`?"),
            (".stat", "string", "`.stat`: the object has no field `stat`; did you mean `status`?"),
            (".spec.x", "string", "`.spec.x`: `.spec` has no field `x`"),
            (".spec.replicas[0]", "integer", "`.spec.replicas[0]`: `.spec.replicas` is not a list"),
            (".spec.replicas", "boolean", "`.spec.replicas` has the type `integer`, expected `boolean`"),
            (".spec.labels.a", "integer", "`.spec.labels.a` has the type `string`, expected `integer`"),
            (".status.conditions[0].reason", "string", "`.status.conditions[]` has no field `reason`"),
        ] {
            let error = check(&schema(), path, ty).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }
}
