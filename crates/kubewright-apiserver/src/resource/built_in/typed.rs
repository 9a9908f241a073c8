//! Unknown fields of kinds that are decoded as their types: `Namespace` and `CustomResourceDefinition`.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::api::kind::Kind;

/// Returns the fields of an object that its type does not have. Returns none if the object cannot be decoded, which is
/// an error elsewhere.
pub(super) fn unknown_fields<T: Serialize + DeserializeOwned>(kind: &Kind, fields: &Map<String, Value>) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(typed) = decode::<T>(kind, fields) {
        compare(&json!(fields), &typed, "", &mut unknown);
    }
    unknown
}

/// Returns the object with the fields of its type only.
fn decode<T: Serialize + DeserializeOwned>(kind: &Kind, fields: &Map<String, Value>) -> Option<Value> {
    let mut object = fields.clone();
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.insert("kind".to_owned(), kind.kind.clone().into());
    let typed: T = serde_json::from_value(object.into()).ok()?;
    serde_json::to_value(typed).ok()
}

/// Collects the fields that are missing in `after`.
fn compare(before: &Value, after: &Value, path: &str, unknown: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut names: Vec<&String> = before.keys().collect();
            names.sort();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match (&before[name], after.get(name)) {
                    (Value::Null, _) => {}
                    (before, Some(after)) => compare(before, after, &path, unknown),
                    (_, None) => unknown.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                compare(before, after, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}
