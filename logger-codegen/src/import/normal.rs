//! A definition in the form that two definitions share if they say the same to the API server.
//!
//! These make no difference to it, and are all that is levelled:
//!
//! - what the server writes: `status`, and of the metadata all but name, labels and annotations;
//! - what it fills in: `singular`, `listKind`, `conversion: {strategy: None}`, `priority: 0`, `reason` of a rule;
//! - what says nothing: flags that are `false`, texts, lists and maps that are empty, a default that is null;
//! - the order of versions, which the server sorts, and of what is `required`;
//! - how a number is written: `1` and `1.0`;
//! - of a whole object, `apiVersion`, `kind` and `metadata`: each object has them, whatever the schema says of them;
//! - `anyOf` beside `x-kubernetes-int-or-string`, which says the same.

use serde_json::{Map, Number, Value, json};

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// The definition without what makes no difference to the API server.
#[must_use]
pub fn normal_form(definition: &Value) -> Value {
    let mut definition = definition.clone();
    numbers(&mut definition);
    if let Value::Object(whole) = &mut definition {
        whole.remove("status");
        if let Some(Value::Object(metadata)) = whole.get_mut("metadata") {
            metadata
                .retain(|key, value| ["name", "labels", "annotations"].contains(&key.as_str()) && !is_nothing(value));
        }
        if let Some(Value::Object(spec)) = whole.get_mut("spec") {
            self::spec(spec);
        }
    }
    definition
}

fn spec(spec: &mut Map<String, Value>) {
    let no_conversion = |value: &Value| *value == json!({"strategy": "None"}) || is_nothing(value);
    spec.retain(|key, value| match key.as_str() {
        "conversion" => !no_conversion(value),
        "preserveUnknownFields" => !is_nothing(value),
        _ => true,
    });
    if let Some(Value::Object(names)) = spec.get_mut("names") {
        names.retain(|_, value| !is_nothing(value));
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
    version.retain(|key, value| ["served", "storage"].contains(&key.as_str()) || !is_nothing(value));
    for column in lists(version, "additionalPrinterColumns") {
        column.retain(|key, value| !(is_nothing(value) || (key == "priority" && *value == json!(0))));
    }
    if let Some(root) = version.get_mut("schema").and_then(|schema| schema.get_mut("openAPIV3Schema")) {
        schema(root);
        self::root(root);
    }
}

/// What each object has.
pub(super) fn root(root: &mut Value) {
    let Value::Object(node) = root else { return };
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| ![json!("apiVersion"), json!("kind"), json!("metadata")].contains(name));
        if required.is_empty() {
            node.remove("required");
        }
    }
    let properties = node.entry("properties").or_insert_with(|| json!({}));
    for (name, own) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let property = properties.as_object_mut().map(|all| all.entry(name).or_insert_with(|| json!({"type": own})));
        if let Some(Value::Object(property)) = property {
            property.remove("description");
        }
    }
}

/// A schema without what says nothing.
pub(super) fn schema(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    node.retain(|key, value| match key.as_str() {
        "default" => !value.is_null(),
        "items" | "additionalProperties" | "not" | "example" => true,
        key if key.starts_with("min") || key.starts_with("max") => true,
        _ => !is_nothing(value),
    });
    if node.get(INT_OR_STRING) == Some(&json!(true)) {
        node.entry("anyOf").or_insert_with(|| json!([{"type": "integer"}, {"type": "string"}]));
    }
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.sort_by_key(Value::to_string);
        required.dedup();
    }
    for rule in lists(node, "x-kubernetes-validations") {
        rule.retain(|key, value| !(is_nothing(value) || (key == "reason" && value == "FieldValueInvalid")));
    }
    for (key, below) in node.iter_mut() {
        match key.as_str() {
            "properties" => below.as_object_mut().into_iter().flatten().for_each(|(_, below)| self::schema(below)),
            "items" | "additionalProperties" => self::schema(below),
            _ => {}
        }
    }
}

/// The objects of a list.
fn lists<'a>(node: &'a mut Map<String, Value>, key: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    node.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Whole numbers are integers.
fn numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
            #[allow(clippy::cast_possible_truncation, reason = "below 2^53, and whole")]
            if let Some(whole) = whole {
                *number = Number::from(whole as i64);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(numbers),
        Value::Object(all) => all.iter_mut().for_each(|(_, value)| numbers(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// How two values differ, one line for each path.
#[must_use]
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
                    (Some(original), None) => found.push(format!("{path}: {original} is lost")),
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
