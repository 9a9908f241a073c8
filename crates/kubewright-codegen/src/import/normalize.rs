//! Normalization of definitions: two definitions with the same meaning for the API server are equal afterwards.
//!
//! Normalization removes these differences:
//!
//! - fields that the server writes: `status`, and all metadata except name, labels and annotations;
//! - defaults: `singular`, `listKind`, `conversion: {strategy: None}`, `priority: 0`, `reason` of a rule;
//! - empty values: flags that are `false`, empty strings, lists and maps, a default that is null;
//! - the order of versions, which the server sorts, and of `required`;
//! - the representation of numbers: `1` and `1.0`;
//! - the descriptions of `apiVersion`, `kind` and `metadata` of the root, and whether the schema mentions them;
//! - `anyOf` beside `x-kubernetes-int-or-string`, which has the same meaning.

use serde_json::{Map, Number, Value, json};

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// Returns the normalized definition.
pub fn normalize(definition: &Value) -> Value {
    let mut definition = definition.clone();
    numbers(&mut definition);
    if let Value::Object(definition) = &mut definition {
        definition.remove("status");
        if let Some(Value::Object(metadata)) = definition.get_mut("metadata") {
            metadata.retain(|key, value| ["name", "labels", "annotations"].contains(&key.as_str()) && !is_empty(value));
        }
        if let Some(Value::Object(spec)) = definition.get_mut("spec") {
            self::spec(spec);
        }
    }
    definition
}

fn spec(spec: &mut Map<String, Value>) {
    let no_conversion = |value: &Value| *value == json!({"strategy": "None"}) || is_empty(value);
    spec.retain(|key, value| match key.as_str() {
        "conversion" => !no_conversion(value),
        "preserveUnknownFields" => !is_empty(value),
        _ => true,
    });
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        names.retain(|_, value| !is_empty(value));
        if let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) {
            names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
            names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
        }
    }
    if let Some(Value::Array(versions)) = spec.get_mut("versions") {
        versions.sort_by_key(|version| version["name"].to_string());
        versions.iter_mut().filter_map(Value::as_object_mut).for_each(self::version);
    }
}

fn version(version: &mut Map<String, Value>) {
    version.retain(|key, value| ["served", "storage"].contains(&key.as_str()) || !is_empty(value));
    for column in lists(version, "additionalPrinterColumns") {
        column.retain(|key, value| !(is_empty(value) || (key == "priority" && *value == json!(0))));
    }
    if let Some(root) = version.get_mut("schema").and_then(|schema| schema.get_mut("openAPIV3Schema")) {
        schema(root);
        self::root(root);
    }
}

/// Normalizes the fields that every object has.
pub(super) fn root(root: &mut Value) {
    let Value::Object(node) = root else { return };
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| ![json!("apiVersion"), json!("kind"), json!("metadata")].contains(name));
        if required.is_empty() {
            node.remove("required");
        }
    }
    let properties = node.entry("properties").or_insert_with(|| json!({}));
    for (name, json_type) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let property =
            properties.as_object_mut().map(|all| all.entry(name).or_insert_with(|| json!({"type": json_type})));
        if let Some(Value::Object(property)) = property {
            property.remove("description");
        }
    }
}

/// Normalizes a schema.
pub(super) fn schema(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    node.retain(|key, value| match key.as_str() {
        "default" => !value.is_null(),
        "items" | "additionalProperties" | "not" | "example" => true,
        key if key.starts_with("min") || key.starts_with("max") => true,
        _ => !is_empty(value),
    });
    if node.get(INT_OR_STRING) == Some(&json!(true)) {
        node.entry("anyOf").or_insert_with(|| json!([{"type": "integer"}, {"type": "string"}]));
    }
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.sort_by_key(Value::to_string);
        required.dedup();
    }
    for rule in lists(node, "x-kubernetes-validations") {
        rule.retain(|key, value| !(is_empty(value) || (key == "reason" && value == "FieldValueInvalid")));
    }
    for (key, below) in node.iter_mut() {
        match key.as_str() {
            "properties" => below.as_object_mut().into_iter().flatten().for_each(|(_, below)| self::schema(below)),
            "items" | "additionalProperties" => self::schema(below),
            _ => {}
        }
    }
}

/// Returns the objects of a list.
fn lists<'a>(node: &'a mut Map<String, Value>, key: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    node.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Converts floats without a fraction to integers.
pub(super) fn numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let integer = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
            if let Some(integer) = integer {
                *number = Number::from(integer as i64);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(numbers),
        Value::Object(all) => all.iter_mut().for_each(|(_, value)| numbers(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns the differences between two values, one line for each path.
pub fn differences(original: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(original, other, "", &mut found);
    found
}

fn compare(original: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
    match (original, other) {
        (Value::Object(original), Value::Object(other)) => {
            let more = other.keys().filter(|key| !original.contains_key(*key));
            for key in original.keys().chain(more) {
                let path = format!("{path}.{key}");
                match (original.get(key), other.get(key)) {
                    (Some(original), Some(other)) => compare(original, other, &path, found),
                    (Some(original), None) => found.push(format!("{path}: {original} is missing")),
                    (None, other) => found.push(format!("{path}: {} is added", other.unwrap_or(&Value::Null))),
                }
            }
        }
        (Value::Array(original), Value::Array(other)) if original.len() == other.len() => {
            for (i, (original, other)) in original.iter().zip(other).enumerate() {
                compare(original, other, &format!("{path}[{i}]"), found);
            }
        }
        _ if original == other => {}
        _ => found.push(format!("{path}: {original} becomes {other}")),
    }
}
