//! What Kubernetes' own types say beyond k8s-openapi's schemas: how lists and maps merge, keys, defaults, formats, and what
//! is required. The data is derived from a real API server's OpenAPI: `cargo xtask overlay`.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{LIST_KEYS, LIST_TYPE, MAP_TYPE, Node};

/// The checked-in data.
pub const DATA: &str = include_str!("overlay.json");

static TYPES: LazyLock<Node> = LazyLock::new(|| match serde_json::from_str(DATA) {
    Ok(Value::Object(mut data)) => match data.remove("types") {
        Some(Value::Object(types)) => types,
        _ => Node::new(),
    },
    _ => Node::new(),
});

/// Keywords of a field that count in place of its type's. In Kubernetes' own types a field may merge in another way.
pub const INSTEAD: &str = "x-logger-instead";

/// A definition of this name (`io.k8s.api.core.v1.Pod`), with what the data says of it; none of a name that is not Kubernetes' own.
/// How a field merges in another way than its type does is in [`INSTEAD`].
#[must_use]
pub fn applied(name: &str, definition: &Value) -> Option<Value> {
    if !name.starts_with("io.k8s.") {
        return None;
    }
    let mut definition = definition.clone();
    if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_float);
    }
    if let Value::Object(node) = &mut definition {
        match TYPES.get(name) {
            Some(facts) => apply(facts, node),
            None => metadata_is_not_required(node),
        }
    }
    Some(definition)
}

/// Kubernetes' own floats are Kubernetes' own affair.
fn allow_float(schema: &mut Value) {
    let is_float = schema.get("type").is_some_and(|own| own == "number" || own == &json!(["number", "null"]));
    if let (true, Value::Object(schema)) = (is_float, schema) {
        schema.insert("x-logger-float".to_owned(), json!(true));
    }
}

fn apply(facts: &Value, node: &mut Node) {
    set(node, MAP_TYPE, facts.get("map"));
    let properties = node.get("properties").and_then(Value::as_object);
    let declared =
        |name: &&Value| name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)));
    let required: Vec<Value> =
        facts.get("required").and_then(Value::as_array).into_iter().flatten().filter(declared).cloned().collect();
    match required.is_empty() {
        true => drop(node.remove("required")),
        false => drop(node.insert("required".to_owned(), Value::Array(required))),
    }
    let fields = facts.get("fields").and_then(Value::as_object).into_iter().flatten();
    for (name, facts) in fields {
        let property = node.get_mut("properties").and_then(|all| all.get_mut(name)).and_then(Value::as_object_mut);
        let Some(property) = property else { continue };
        for (key, fact) in [(LIST_TYPE, "list"), (LIST_KEYS, "keys"), ("default", "default"), ("format", "format")] {
            set(property, key, facts.get(fact));
        }
        if let Some(map) = facts.get("map") {
            property.insert(INSTEAD.to_owned(), json!({ MAP_TYPE: map }));
        }
    }
}

/// k8s-openapi's `metadata` is no `Option`, so its schemas require it. The server does not.
fn metadata_is_not_required(node: &mut Node) {
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| name != "metadata");
    }
    node.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
}

fn set(node: &mut Node, key: &str, value: Option<&Value>) {
    node.extend(value.map(|value| (key.to_owned(), value.clone())));
}
