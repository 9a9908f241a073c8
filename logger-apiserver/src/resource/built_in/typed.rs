//! Unknown fields of kinds that are read by their types: Namespace and CustomResourceDefinition.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::api::kind::Kind;

/// Returns the fields of an object that its type does not have; none if the object cannot be read, which is an error elsewhere.
pub(super) fn unknown_fields<T: Serialize + DeserializeOwned>(kind: &Kind, fields: &Map<String, Value>) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(typed) = read::<T>(kind, fields) {
        compare(&json!(fields), &typed, "", &mut unknown);
    }
    unknown
}

/// An object with no more than its type has.
fn read<T: Serialize + DeserializeOwned>(kind: &Kind, fields: &Map<String, Value>) -> Option<Value> {
    let mut whole = fields.clone();
    whole.insert("apiVersion".to_owned(), kind.api_version().into());
    whole.insert("kind".to_owned(), kind.kind.clone().into());
    let typed: T = serde_json::from_value(whole.into()).ok()?;
    serde_json::to_value(typed).ok()
}

/// Finds the fields that are not there any more.
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
