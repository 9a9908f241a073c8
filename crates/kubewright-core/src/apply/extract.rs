//! Extracts the fields of an object that a manager owns, according to the object's `managedFields`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use serde_json::{Map, Value};

use super::{ApplyConfiguration, ObjectKind};

/// An error of an extraction.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The object has no name, so that it does not come from a server.
    #[error("cannot extract from an object without metadata.name")]
    Unnamed,
    /// The owned fields are not a valid configuration of the kind.
    #[error("the fields of `{name}` that `{manager}` owns are not a valid configuration of its kind")]
    Malformed {
        /// The name of the object.
        name: String,
        /// The field manager.
        manager: String,
        /// The decoding error.
        #[source]
        source: serde_json::Error,
    },
}

pub(super) fn extract<C: ApplyConfiguration>(
    object: &C::Kind,
    manager: &str,
    subresource: Option<&str>,
) -> Result<C, ExtractError> {
    let (metadata, api_version) = (object.object_metadata(), C::Kind::object_api_version());
    let Some(name) = metadata.name.clone() else { return Err(ExtractError::Unnamed) };
    let malformed = |source| ExtractError::Malformed { name: name.clone(), manager: manager.to_owned(), source };
    let owned = match managed_fields_entry(metadata, &api_version, manager, subresource)
        .and_then(|entry| entry.fields_v1.as_ref())
    {
        Some(fields) => owned_value(&serde_json::to_value(object).map_err(malformed)?, &fields.0),
        None => Value::Null,
    };
    let mut owned = match owned {
        Value::Object(owned) => owned,
        _ => Map::new(),
    };
    owned.insert("apiVersion".to_owned(), api_version.into_owned().into());
    owned.insert("kind".to_owned(), C::Kind::object_kind().into_owned().into());
    let owned_metadata = owned.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    owned_metadata["name"] = name.clone().into();
    if let Some(namespace) = &metadata.namespace {
        owned_metadata["namespace"] = namespace.clone().into();
    }
    serde_json::from_value(Value::Object(owned)).map_err(malformed)
}

/// Returns the `managedFields` entry of this manager for apply in this version.
fn managed_fields_entry<'a>(
    metadata: &'a ObjectMeta,
    api_version: &str,
    manager: &str,
    subresource: Option<&str>,
) -> Option<&'a ManagedFieldsEntry> {
    let matches = |entry: &&ManagedFieldsEntry| {
        entry.manager.as_deref() == Some(manager)
            && entry.operation.as_deref() == Some("Apply")
            && entry.api_version.as_deref() == Some(api_version)
            && entry.subresource.as_deref().unwrap_or_default() == subresource.unwrap_or_default()
    };
    metadata.managed_fields.iter().flatten().find(matches)
}

/// Returns the part of a value that a `FieldsV1` lists: `f:` is a field, `k:` the item with these keys, `v:` an item by
/// value, `i:` an item by index. A path without nested paths owns the complete value.
fn owned_value(value: &Value, fields: &Value) -> Value {
    let Some(fields) = fields.as_object().filter(|fields| !fields.is_empty()) else {
        return value.clone();
    };
    match value {
        Value::Object(object) => {
            let field = |(path, below): (&String, &Value)| {
                let name = path.strip_prefix("f:")?;
                Some((name.to_owned(), owned_value(object.get(name)?, below)))
            };
            Value::Object(fields.iter().filter_map(field).collect())
        }
        Value::Array(items) => {
            let item =
                |(i, item): (usize, &Value)| fields.iter().find_map(|(path, below)| owned_item(i, item, path, below));
            Value::Array(items.iter().enumerate().filter_map(item).collect())
        }
        other => other.clone(),
    }
}

/// Returns the owned part of a list item; `None` if the path is that of another item.
fn owned_item(i: usize, item: &Value, path: &str, below: &Value) -> Option<Value> {
    let (kind, element) = path.split_once(':')?;
    match kind {
        "i" => (element.parse() == Ok(i)).then(|| owned_value(item, below)),
        "v" => (serde_json::from_str::<Value>(element).ok()? == *item).then(|| item.clone()),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(element).ok()?;
            keys.iter()
                .all(|(key, value)| item.get(key) == Some(value))
                .then(|| with_keys(owned_value(item, below), keys))
        }
        _ => None,
    }
}

/// Adds the keys to an item, without which it is not valid.
fn with_keys(mut item: Value, keys: Map<String, Value>) -> Value {
    if let Value::Object(item) = &mut item {
        item.extend(keys);
    }
    item
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn listed_fields_are_owned() {
        let value = json!({
            "metadata": {"labels": {"mine": "1", "theirs": "2"}, "finalizers": ["a", "b"]},
            "spec": {
                "selector": {"matchLabels": {"app": "x"}},
                "ports": [{"port": 80, "protocol": "TCP", "name": "web"}, {"port": 53, "protocol": "UDP"}],
                "args": ["x", "y"],
                "replicas": 3,
            },
        });
        let fields = json!({
            "f:metadata": {"f:labels": {"f:mine": {}}, "f:finalizers": {"v:\"b\"": {}}},
            "f:spec": {
                "f:selector": {},
                "f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}},
                "f:args": {},
                "f:gone": {},
            },
        });
        let expected = json!({
            "metadata": {"labels": {"mine": "1"}, "finalizers": ["b"]},
            "spec": {
                "selector": {"matchLabels": {"app": "x"}},
                "ports": [{"port": 80, "protocol": "TCP", "name": "web"}],
                "args": ["x", "y"],
            },
        });
        assert_eq!(owned_value(&value, &fields), expected);
    }

    #[test]
    fn owned_map_without_owned_entries_is_empty() {
        let fields = json!({"f:labels": {".": {}}});
        assert_eq!(owned_value(&json!({"labels": {"theirs": "2"}}), &fields), json!({"labels": {}}));
    }
}
