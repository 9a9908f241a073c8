//! The topology, defaults, formats and required fields of types, from the OpenAPI of the server.

use serde_json::{Map, Value, json};

use crate::Documents;

type Node = Map<String, Value>;

/// Returns the contents of the file: its origin, and one line for each type with facts.
pub fn overlay(documents: &Documents) -> String {
    let mut types = Vec::new();
    for (name, definition) in &documents.definitions {
        let facts = facts_of(definition, documents);
        if !facts.is_empty() {
            types.push(format!("{}:{}", json!(name), Value::Object(facts)));
        }
    }
    let about =
        documents.about("List types, map types, keys, defaults, formats and required fields of Kubernetes' own types.");
    format!("{{\"about\":{about},\n\"types\":{{\n{}\n}}}}\n", types.join(",\n"))
}

/// Returns the facts of a type; none if the type is not an object.
fn facts_of(definition: &Value, documents: &Documents) -> Node {
    let mut facts = Node::new();
    let Some(properties) = definition.get("properties").and_then(Value::as_object) else { return facts };
    let required = definition.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields: Node = properties
        .iter()
        .map(|(name, schema)| (name.clone(), field(schema, required.contains(&json!(name)), documents)))
        .filter(|(_, facts)| !facts.is_empty())
        .map(|(name, facts)| (name, Value::Object(facts)))
        .collect();
    copy(&mut facts, "map", definition.get("x-kubernetes-map-type"));
    if !required.is_empty() {
        facts.insert("required".to_owned(), Value::Array(required));
    }
    if !fields.is_empty() {
        facts.insert("fields".to_owned(), Value::Object(fields));
    }
    facts
}

fn field(schema: &Value, is_required: bool, documents: &Documents) -> Node {
    let mut facts = Node::new();
    match has_valid_keys(schema, documents) {
        true => {
            copy(&mut facts, "list", schema.get("x-kubernetes-list-type"));
            copy(&mut facts, "keys", schema.get("x-kubernetes-list-map-keys"));
        }
        // A definition with such keys is invalid, so the list becomes atomic.
        false => drop(facts.insert("list".to_owned(), json!("atomic"))),
    }
    copy(&mut facts, "map", schema.get("x-kubernetes-map-type"));
    copy(&mut facts, "format", schema.get("format").filter(|format| *format != "int-or-string"));
    let default = schema.get("default").filter(|default| **default != json!({}) && !(is_required && is_zero(default)));
    copy(&mut facts, "default", default);
    facts
}

/// Reports whether the items of a list require each key or have a default for it.
fn has_valid_keys(schema: &Value, documents: &Documents) -> bool {
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let items = schema.get("items").and_then(reference).and_then(|name| documents.definitions.get(name));
    let Some((keys, items)) = keys.zip(items) else { return true };
    let required = items.get("required").and_then(Value::as_array);
    keys.iter().all(|key| {
        let default = items.get("properties").and_then(|all| all.get(key.as_str()?)?.get("default"));
        required.is_some_and(|required| required.contains(key)) || default.is_some()
    })
}

/// Returns the name of the type that a schema refers to. A reference with other keywords beside it is in `allOf`.
fn reference(schema: &Value) -> Option<&str> {
    let reference = schema.get("$ref").or_else(|| schema.get("allOf")?.get(0)?.get("$ref"));
    reference?.as_str()?.rsplit('/').next()
}

fn is_zero(value: &Value) -> bool {
    [json!(""), json!(0), json!(false)].contains(value) || value.as_f64() == Some(0.0)
}

fn copy(facts: &mut Node, key: &str, value: Option<&Value>) {
    facts.extend(value.map(|value| (key.to_owned(), value.clone())));
}
