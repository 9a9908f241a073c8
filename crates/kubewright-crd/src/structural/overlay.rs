//! Properties of the built-in Kubernetes types that the schemas of k8s-openapi lack: list types, map types, keys,
//! defaults, formats, and required fields. `cargo xtask overlay` generates the data from the OpenAPI document of an API
//! server.

use std::sync::LazyLock;

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{LIST_KEYS, LIST_TYPE, MAP_TYPE, Node};

/// The generated data.
pub const DATA: &str = include_str!("overlay.json");

static TYPES: LazyLock<Node> = LazyLock::new(|| match serde_json::from_str(DATA) {
    Ok(Value::Object(mut data)) => match data.remove("types") {
        Some(Value::Object(types)) => types,
        _ => Node::new(),
    },
    _ => Node::new(),
});

/// Applies the overlay to the definition of a built-in type, such as `io.k8s.api.core.v1.Pod`. Returns `None` for other
/// types. Keywords that a field overrides are in [`Extension::Instead`].
pub fn apply(name: &str, definition: &Value) -> Option<Value> {
    if !name.starts_with("io.k8s.") {
        return None;
    }
    let mut definition = definition.clone();
    if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_float);
    }
    if let Value::Object(node) = &mut definition {
        match TYPES.get(name) {
            Some(overlay) => apply_overlay(overlay, node),
            None => remove_required_metadata(node),
        }
    }
    Some(definition)
}

/// Allows the floats of built-in types.
fn allow_float(schema: &mut Value) {
    let is_float = schema.get("type").is_some_and(|name| name == "number" || name == &json!(["number", "null"]));
    if let (true, Value::Object(schema)) = (is_float, schema) {
        schema.insert(Extension::Float.name().to_owned(), json!(true));
    }
}

fn apply_overlay(overlay: &Value, node: &mut Node) {
    set(node, MAP_TYPE, overlay.get("map"));
    let properties = node.get("properties").and_then(Value::as_object);
    let declared =
        |name: &&Value| name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)));
    let required: Vec<Value> =
        overlay.get("required").and_then(Value::as_array).into_iter().flatten().filter(declared).cloned().collect();
    match required.is_empty() {
        true => drop(node.remove("required")),
        false => drop(node.insert("required".to_owned(), Value::Array(required))),
    }
    let fields = overlay.get("fields").and_then(Value::as_object).into_iter().flatten();
    for (name, overlay) in fields {
        let property = node.get_mut("properties").and_then(|all| all.get_mut(name)).and_then(Value::as_object_mut);
        let Some(property) = property else { continue };
        for (key, name) in [(LIST_TYPE, "list"), (LIST_KEYS, "keys"), ("default", "default"), ("format", "format")] {
            set(property, key, overlay.get(name));
        }
        if let Some(map) = overlay.get("map") {
            property.insert(Extension::Instead.name().to_owned(), json!({ MAP_TYPE: map }));
        }
    }
}

/// Removes `metadata` from the required fields. The schemas of k8s-openapi require it, because it is not an `Option`.
fn remove_required_metadata(node: &mut Node) {
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| name != "metadata");
    }
    node.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
}

fn set(node: &mut Node, key: &str, value: Option<&Value>) {
    node.extend(value.map(|value| (key.to_owned(), value.clone())));
}
