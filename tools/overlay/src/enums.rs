//! The values that fields take, and what the server tells of each.

use serde_json::{Map, Value, json};

use crate::Documents;

/// With these words the server goes on from what a field is to the values it takes.
const TOLD: &str = "\n\nPossible enum values:\n";
/// Where the values of a field are: its own, those of its items, those of its entries.
const PLACES: [&str; 3] = ["", "/items", "/additionalProperties"];

/// The file: its origin, and one line for each type that has fields with such values.
#[must_use]
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
    let about = documents.about("The values that fields of Kubernetes' own types take, and what is told of them.");
    format!("{{\"about\":{about},\n\"types\":{{\n{}\n}}}}\n", types.join(",\n"))
}

/// What a field's schema says of its values, if it has any.
fn values(schema: &Value) -> Option<Value> {
    let (at, values) = PLACES.iter().find_map(|at| Some((*at, schema.pointer(&format!("{at}/enum"))?)))?;
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let told = description.find(TOLD).map_or("", |start| &description[start..]);
    Some(json!({ "at": at, "values": values, "told": told }))
}
