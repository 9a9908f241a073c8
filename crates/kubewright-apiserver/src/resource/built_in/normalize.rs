//! Normalizes objects of built-in kinds: their JSON becomes that which Go encodes after decoding it into structs.

use kubewright_crd::quantity::Quantity;
use serde_json::{Map, Value};

use crate::api::{
    go::is_empty_value,
    types::{JsonField, Special, Type, Types, ValueType},
};

/// The encoding in which objects are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StorageEncoding {
    /// Definitions are stored as JSON.
    Json,
    /// Empty lists and maps are not distinguished from those that are missing.
    Protobuf,
}

impl StorageEncoding {
    /// Normalizes the fields of an object: nulls, empty values of `omitempty` fields, and what the encoding does not
    /// store are removed, and quantities become canonical. Fields that the type does not have are unchanged.
    pub(crate) fn normalize(self, fields: &mut Map<String, Value>, type_: &Type) {
        fields.retain(|name, value| {
            let Some(field) = type_.json_field(name) else { return true };
            if field.is_map {
                self.normalize_entries(value, field.value_type);
            } else {
                self.normalize_value(value, field.value_type);
            }
            !self.is_omitted(value, field)
        });
    }

    /// Normalizes the values of a map. A null becomes the zero value.
    fn normalize_entries(self, value: &mut Value, value_type: ValueType) {
        for entry in value.as_object_mut().into_iter().flat_map(|entries| entries.values_mut()) {
            if entry.is_null() && matches!(value_type, ValueType::String | ValueType::Bytes) {
                *entry = Value::from("");
            }
            self.normalize_value(entry, value_type);
        }
    }

    /// Normalizes a value, or the items of a list.
    fn normalize_value(self, value: &mut Value, value_type: ValueType) {
        match (value, value_type) {
            (Value::Array(items), ValueType::Message(index)) => {
                let item_type = Types::all().at(index).element().unwrap_or(value_type);
                items.iter_mut().for_each(|item| self.normalize_value(item, item_type));
            }
            (Value::Object(fields), ValueType::Message(index)) => self.normalize(fields, Types::all().at(index)),
            (value, ValueType::Special(Special::Quantity)) => {
                if let Some(quantity) = Quantity::from_json(value).filter(|quantity| quantity.is_exact()) {
                    *value = Value::from(quantity.to_string());
                }
            }
            _ => {}
        }
    }

    fn is_omitted(self, value: &Value, field: &JsonField) -> bool {
        let is_omitted_if_empty = field.omits_empty || self == Self::Protobuf;
        match value {
            Value::Null => true,
            Value::Array(items) => is_omitted_if_empty && items.is_empty(),
            Value::Object(entries) => is_omitted_if_empty && field.is_map && entries.is_empty(),
            value => field.omits_empty && is_empty_value(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normalized(api_version: &str, kind: &str, object: Value) -> Value {
        let type_ = Types::all().of_kind(api_version, kind).expect("the kind is built-in");
        let mut fields = object.as_object().cloned().unwrap_or_default();
        StorageEncoding::Protobuf.normalize(&mut fields, type_);
        fields.into()
    }

    #[test]
    fn empty_values_of_omitempty_fields_are_removed() {
        let pod = json!({
            "spec": { "hostname": "", "hostNetwork": false, "containers": [{ "name": "", "workingDir": "" }] },
            "status": { "conditions": [{ "type": "Ready", "message": "", "status": "True" }] },
        });
        let expected = json!({
            "spec": { "containers": [{ "name": "" }] },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
        });
        assert_eq!(normalized("v1", "Pod", pod), expected);
    }

    #[test]
    fn empty_values_of_pointers_structs_and_maps_are_kept() {
        let pod = json!({
            "metadata": { "labels": { "a": "" } },
            "spec": {
                "automountServiceAccountToken": false, "priorityClassName": "", "terminationGracePeriodSeconds": 0,
                "securityContext": {}, "volumes": [{ "name": "v", "emptyDir": {} }],
            },
        });
        let mut expected = pod.clone();
        expected["spec"].as_object_mut().expect("the spec is an object").remove("priorityClassName");
        assert_eq!(normalized("v1", "Pod", pod), expected);
    }

    #[test]
    fn empty_values_of_other_fields_are_removed_unless_they_are_stored_as_json() {
        let type_ = Types::all().of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition").expect("a kind");
        let definition = json!({ "status": { "conditions": [] }, "spec": { "names": { "shortNames": [] } } });
        let normalized = |encoding: StorageEncoding| {
            let mut fields = definition.as_object().cloned().unwrap_or_default();
            encoding.normalize(&mut fields, type_);
            Value::from(fields)
        };
        assert_eq!(
            normalized(StorageEncoding::Json),
            json!({ "status": { "conditions": [] }, "spec": { "names": {} } })
        );
        assert_eq!(normalized(StorageEncoding::Protobuf), json!({ "status": {}, "spec": { "names": {} } }));
    }

    #[test]
    fn nulls_and_empty_lists_and_maps_are_removed() {
        let config_map = json!({ "metadata": { "labels": {}, "finalizers": [] }, "binaryData": { "a": null } });
        assert_eq!(normalized("v1", "ConfigMap", config_map), json!({ "metadata": {}, "binaryData": { "a": "" } }));
    }

    #[test]
    fn quantities_are_canonical() {
        let quota = json!({ "spec": { "hard": { "cpu": "1000m", "memory": 1024 } } });
        assert_eq!(normalized("v1", "ResourceQuota", quota)["spec"]["hard"], json!({ "cpu": "1", "memory": "1024" }));
    }
}
