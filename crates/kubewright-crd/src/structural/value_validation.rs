//! Value validations: the keywords that a structural schema allows inside `oneOf`, `anyOf`, `allOf` and `not`.

use std::collections::BTreeSet;

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{Node, number};

/// The keywords of value validations.
pub(super) const VALUE_VALIDATIONS: &[&str] = &[
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

/// Whether a schema has only value validations, so that the server accepts it as a branch.
pub(super) fn is_value_validation(schema: &Value) -> bool {
    let Value::Object(node) = schema else { return false };
    node.iter().all(|(key, value)| match key.as_str() {
        "const" | "required" => true,
        "not" => is_value_validation(value),
        "allOf" | "anyOf" | "oneOf" => value.as_array().is_some_and(|all| all.iter().all(is_value_validation)),
        "properties" => value.as_object().is_some_and(|all| all.values().all(is_value_validation)),
        key if key == Extension::RustVariant.name() => true,
        key => VALUE_VALIDATIONS.contains(&key),
    }) && !node.keys().all(|key| key == Extension::RustVariant.name())
}

/// Converts a branch to keywords that the server supports.
pub(super) fn to_value_validation(schema: &Value) -> Value {
    let Value::Object(node) = schema else { return schema.clone() };
    let mut validation = Node::new();
    for (key, value) in node {
        match (key.as_str(), value) {
            (key, _) if key == Extension::RustVariant.name() => {}
            ("const", value) => drop(validation.insert("enum".to_owned(), json!([value]))),
            ("not", value) => drop(validation.insert(key.clone(), to_value_validation(value))),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                validation.insert(key.clone(), all.iter().map(to_value_validation).collect());
            }
            ("properties", Value::Object(all)) => {
                let all = all.iter().map(|(name, schema)| (name.clone(), to_value_validation(schema)));
                validation.insert(key.clone(), Value::Object(all.collect()));
            }
            (_, value) => drop(validation.insert(key.clone(), value.clone())),
        }
    }
    number::convert_exclusive_bounds(&mut validation);
    Value::Object(validation)
}

/// Merges constants into one `enum`: schemars generates them for a unit enum with documentation.
pub(super) fn enum_of_constants(alternatives: &[&Value]) -> Option<Node> {
    let mut values = Vec::new();
    let mut common_type = None;
    for alternative in alternatives {
        let type_name = alternative
            .get("type")?
            .as_str()
            .filter(|type_name| ["string", "integer", "boolean"].contains(type_name))?;
        if *common_type.get_or_insert(type_name) != type_name {
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
    Some(Node::from_iter([("type".to_owned(), json!(common_type?)), ("enum".to_owned(), json!(values))]))
}

/// Adds junctors to a branch.
pub(super) fn add_junctors(branch: &mut Node, junctors: Vec<Node>) {
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
