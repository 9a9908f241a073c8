//! The enum values of fields of built-in types, as the real server publishes them.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Derived from a real server's OpenAPI by `cargo xtask overlay`, which says what it is and where it is from.
const DATA: &str = include_str!("enums.json");

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let file: File = serde_json::from_str(DATA).expect("the file is JSON of this form");
    file.types
});

/// By type and field.
type Types = BTreeMap<String, BTreeMap<String, Enum>>;

#[derive(Deserialize)]
struct File {
    types: Types,
}

#[derive(Deserialize)]
struct Enum {
    /// Where in the field's schema the values are: empty, or the pointer to its items or entries.
    at: String,
    values: Vec<String>,
    /// How the description of the field goes on.
    description: String,
}

/// Says in these schemas, by name, which values their fields take.
pub(super) fn tell(schemas: &mut Map<String, Value>) {
    for (name, schema) in schemas {
        for (field, values) in TYPES.get(name).into_iter().flatten() {
            if let Some(property) = schema.pointer_mut(&format!("/properties/{field}")) {
                values.tell(property);
            }
        }
    }
}

impl Enum {
    fn tell(&self, property: &mut Value) {
        if let Some(schema) = property.pointer_mut(&self.at) {
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
    fn values_are_told_where_they_are() {
        let mut schemas = json!({
            "io.k8s.api.core.v1.ContainerPort": { "properties": { "protocol": { "type": "string", "description": "P." } } },
            "io.k8s.api.core.v1.ServiceSpec": { "properties": { "ipFamilies": { "items": { "type": "string" } } } },
            "other.v1.Type": { "properties": { "protocol": { "type": "string" } } },
        });
        let other = schemas["other.v1.Type"].clone();
        tell(schemas.as_object_mut().unwrap());
        let port = &schemas["io.k8s.api.core.v1.ContainerPort"]["properties"]["protocol"];
        assert_eq!(port["enum"], json!(["SCTP", "TCP", "UDP"]));
        assert!(port["description"].as_str().unwrap().starts_with("P.\n\nPossible enum values:\n - `\"SCTP\"`"));
        let families = &schemas["io.k8s.api.core.v1.ServiceSpec"]["properties"]["ipFamilies"];
        assert_eq!(families["items"]["enum"], json!(["", "IPv4", "IPv6"]));
        assert_eq!(schemas["other.v1.Type"], other);
    }
}
