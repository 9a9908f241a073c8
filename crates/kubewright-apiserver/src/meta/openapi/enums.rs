//! The enum values of fields of built-in types, as the real server publishes them.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Derived from the OpenAPI document of a real server by `cargo xtask overlay`.
const DATA: &str = include_str!("enums.json");

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let file: File = serde_json::from_str(DATA).expect("the file matches the type");
    file.types
});

/// The enums by type and field.
type Types = BTreeMap<String, BTreeMap<String, Enum>>;

#[derive(Deserialize)]
struct File {
    types: Types,
}

#[derive(Deserialize)]
struct Enum {
    /// The pointer to the schema of the values in the schema of the field: empty, or that of its items or entries.
    #[serde(rename = "at")]
    pointer: String,
    values: Vec<String>,
    /// The text to append to the description of the field.
    description: String,
}

/// Adds the enum values of fields to schemas.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    for (name, schema) in schemas {
        for (field, values) in TYPES.get(name).into_iter().flatten() {
            if let Some(property) = schema.pointer_mut(&format!("/properties/{field}")) {
                values.add_to(property);
            }
        }
    }
}

impl Enum {
    fn add_to(&self, property: &mut Value) {
        if let Some(schema) = property.pointer_mut(&self.pointer) {
            schema["enum"] = json!(self.values);
        }
        if let Some(Value::String(description)) = property.get_mut("description") {
            description.push_str(&self.description);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_added_to_their_fields() {
        let mut schemas = json!({
            "io.k8s.api.core.v1.ContainerPort": { "properties": { "protocol": { "type": "string", "description": "P." } } },
            "io.k8s.api.core.v1.ServiceSpec": { "properties": { "ipFamilies": { "items": { "type": "string" } } } },
            "other.v1.Type": { "properties": { "protocol": { "type": "string" } } },
        });
        let other = schemas["other.v1.Type"].clone();
        add(schemas.as_object_mut().unwrap());
        let port = &schemas["io.k8s.api.core.v1.ContainerPort"]["properties"]["protocol"];
        assert_eq!(port["enum"], json!(["SCTP", "TCP", "UDP"]));
        assert!(port["description"].as_str().unwrap().starts_with("P.\n\nPossible enum values:\n - `\"SCTP\"`"));
        let families = &schemas["io.k8s.api.core.v1.ServiceSpec"]["properties"]["ipFamilies"];
        assert_eq!(families["items"]["enum"], json!(["", "IPv4", "IPv6"]));
        assert_eq!(schemas["other.v1.Type"], other);
    }
}
