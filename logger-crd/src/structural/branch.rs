//! What may stand in a branch of `oneOf`, `anyOf`, `allOf` or `not`: restrictions, and nothing that declares.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Node, number};

/// Keywords that restrict a value and may stand in a branch.
pub(super) const RESTRICTIONS: &[&str] = &[
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
];

/// Whether a schema only restricts values, so that the server takes it as a branch.
pub(super) fn is_pure(schema: &Value) -> bool {
    let Value::Object(node) = schema else { return false };
    node.iter().all(|(key, value)| match key.as_str() {
        "const" | "required" => true,
        "not" => is_pure(value),
        "allOf" | "anyOf" | "oneOf" => value.as_array().is_some_and(|all| all.iter().all(is_pure)),
        "properties" => value.as_object().is_some_and(|all| all.values().all(is_pure)),
        "x-rust-variant" => true,
        key => RESTRICTIONS.contains(&key),
    }) && !node.keys().all(|key| key == "x-rust-variant")
}

/// A branch in the server's words.
pub(super) fn tidy(schema: &Value) -> Value {
    let Value::Object(node) = schema else { return schema.clone() };
    let mut tidied = Node::new();
    for (key, value) in node {
        match (key.as_str(), value) {
            ("x-rust-variant", _) => {}
            ("const", value) => drop(tidied.insert("enum".to_owned(), json!([value]))),
            ("not", value) => drop(tidied.insert(key.clone(), tidy(value))),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                tidied.insert(key.clone(), all.iter().map(tidy).collect());
            }
            ("properties", Value::Object(all)) => {
                let all = all.iter().map(|(name, schema)| (name.clone(), tidy(schema)));
                tidied.insert(key.clone(), Value::Object(all.collect()));
            }
            (_, value) => drop(tidied.insert(key.clone(), value.clone())),
        }
    }
    number::bounds(&mut tidied);
    Value::Object(tidied)
}

/// Constants, as schemars writes a unit enum with docs, are one `enum`.
pub(super) fn words(alternatives: &[&Value]) -> Option<Node> {
    let mut values = Vec::new();
    let mut kind = None;
    for alternative in alternatives {
        let own = alternative.get("type")?.as_str().filter(|own| ["string", "integer", "boolean"].contains(own))?;
        if *kind.get_or_insert(own) != own {
            return None;
        }
        match (alternative.get("const"), alternative.get("enum")) {
            (Some(value), None) => values.push(value.clone()),
            (None, Some(Value::Array(more))) => values.extend(more.iter().cloned()),
            _ => return None,
        }
    }
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    Some(Node::from_iter([("type".to_owned(), json!(kind?)), ("enum".to_owned(), json!(values))]))
}

/// Adds junctors to a branch.
pub(super) fn with_junctors(branch: &mut Node, junctors: Vec<Node>) {
    for junctor in junctors {
        match junctor.iter().next() {
            Some((key, value)) if !branch.contains_key(key) => drop(branch.insert(key.clone(), value.clone())),
            _ => {
                if let Value::Array(all) = branch.entry("allOf").or_insert_with(|| json!([])) {
                    all.push(Value::Object(junctor));
                }
            }
        }
    }
}
