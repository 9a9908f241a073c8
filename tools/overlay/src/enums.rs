//! The enum values of fields, and their descriptions.

use serde_json::{Map, Value, json};

use crate::Documents;

/// The text with which the server starts the description of the enum values.
const VALUES_HEADING: &str = "\n\nPossible enum values:\n";
/// The JSON pointers at which a field schema can have values: the field, its items, its entries.
const POINTERS: [&str; 3] = ["", "/items", "/additionalProperties"];

/// Returns the contents of the file: its origin, and one line for each type that has fields with enum values.
pub fn enums(documents: &Documents) -> String {
    let mut types = Vec::new();
    for (name, definition) in &documents.definitions {
        let fields = definition.get("properties").and_then(Value::as_object).into_iter().flatten();
        let fields: Map<String, Value> =
            fields.filter_map(|(name, schema)| Some((name.clone(), values(schema)?))).collect();
        if !fields.is_empty() {
            types.push(format!("{}:{}", json!(name), Value::Object(fields)));
        }
    }
    let about = documents
        .about("The enum values of fields of Kubernetes' own types, and the part of the descriptions about them.");
    format!("{{\"about\":{about},\n\"types\":{{\n{}\n}}}}\n", types.join(",\n"))
}

/// Returns the enum values of a field and the part of its description about them.
fn values(schema: &Value) -> Option<Value> {
    let (at, values) = POINTERS.iter().find_map(|at| Some((*at, schema.pointer(&format!("{at}/enum"))?)))?;
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = description.find(VALUES_HEADING).map_or("", |start| &description[start..]);
    Some(json!({ "at": at, "values": values, "description": description }))
}
