//! The order of fields in JSON: that of the Go struct for built-in kinds, and sorted by name for others.

use std::{cmp::Ordering, collections::BTreeMap, ptr};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference, Time};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::api::types::{Special, Type, Types, ValueType};

/// The order of the fields of an object.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum FieldOrder {
    /// By name, as Go encodes maps.
    #[default]
    Sorted,
    /// As in the struct, as Go encodes structs.
    Struct(&'static Type),
}

impl PartialEq for FieldOrder {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sorted, Self::Sorted) => true,
            (Self::Struct(left), Self::Struct(right)) => ptr::eq(*left, *right),
            _ => false,
        }
    }
}

impl FieldOrder {
    /// Returns the order of the objects of a built-in kind.
    pub(crate) fn from_kind(api_version: &str, kind: &str) -> Self {
        Types::all().of_kind(api_version, kind).map_or(Self::Sorted, Self::Struct)
    }

    /// Returns the order of the fields of an object by its `apiVersion` and `kind`.
    pub(crate) fn from_object(object: &Value) -> Self {
        let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
        Self::from_kind(text("apiVersion"), text("kind"))
    }

    /// Returns the fields of an object in their order, with the encodable representations of their values.
    pub(crate) fn fields(self, object: &Map<String, Value>) -> Vec<(&String, Ordered<'_>)> {
        match self {
            Self::Sorted => object.iter().map(|(name, value)| (name, Ordered { value, type_: None })).collect(),
            Self::Struct(type_) => fields(type_, object),
        }
    }

    /// Returns the encodable representation of a complete object.
    pub(crate) fn order(self, value: &Value) -> Ordered<'_> {
        let type_ = match self {
            Self::Sorted => None,
            Self::Struct(type_) => Some(OrderedType::Struct(type_)),
        };
        Ordered { value, type_ }
    }
}

/// A value that is encoded in its order.
pub(crate) struct Ordered<'a> {
    value: &'a Value,
    /// The type of the value, or of the elements of a list or a map; `None` for values whose fields are sorted.
    type_: Option<OrderedType>,
}

#[derive(Clone, Copy)]
enum OrderedType {
    Struct(&'static Type),
    /// The values of a map.
    Values(&'static Type),
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(type_) = self.type_ else {
            return self.value.serialize(serializer);
        };
        match (self.value, type_) {
            (Value::Object(map), OrderedType::Struct(type_)) => serializer.collect_map(fields(type_, map)),
            (Value::Object(map), OrderedType::Values(type_)) => {
                let type_ = Some(OrderedType::Struct(type_));
                serializer.collect_map(map.iter().map(|(name, value)| (name, Ordered { value, type_ })))
            }
            (Value::Array(items), type_) => {
                let type_ = Some(match type_ {
                    OrderedType::Struct(list) => list.element().and_then(struct_of).map_or(type_, OrderedType::Struct),
                    OrderedType::Values(_) => type_,
                });
                serializer.collect_seq(items.iter().map(|value| Ordered { value, type_ }))
            }
            (value, _) => value.serialize(serializer),
        }
    }
}

/// Returns the fields of a struct in their order. The type of an object comes first, and fields that the struct does
/// not have come last.
fn fields<'a>(type_: &'static Type, map: &'a Map<String, Value>) -> Vec<(&'a String, Ordered<'a>)> {
    let field = |(name, value): (&'a String, &'a Value)| {
        let field = type_.json_field(name);
        let position = field.map_or_else(|| position_of_unknown(name), |field| field.position + 2);
        let is_map = field.is_some_and(|field| field.is_map);
        let type_ = field.and_then(|field| struct_of(field.value_type));
        let type_ = type_.map(if is_map { OrderedType::Values } else { OrderedType::Struct });
        (position, name, Ordered { value, type_ })
    };
    let mut fields: Vec<_> = map.iter().map(field).collect();
    fields.sort_by_key(|(position, ..)| *position);
    fields.into_iter().map(|(_, name, value)| (name, value)).collect()
}

fn position_of_unknown(name: &str) -> usize {
    match name {
        "kind" => 0,
        "apiVersion" => 1,
        _ => usize::MAX,
    }
}

/// Returns the struct whose order a value has. The schemas of definitions are unions of a struct and another type.
fn struct_of(value_type: ValueType) -> Option<&'static Type> {
    match value_type {
        ValueType::Message(index) => Some(Types::all().at(index)),
        ValueType::Special(Special::SchemaOrBool | Special::SchemaOrArray | Special::SchemaOrStringArray) => {
            Types::all().schema()
        }
        _ => None,
    }
}

/// Metadata in the order of the Go struct.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StructMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generate_name: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_link: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: &'a Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: &'a Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<Vec<Owner<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalizers: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    managed_fields: Option<Vec<Manager<'a>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Owner<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_owner_deletion: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manager<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    manager: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: &'a Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields_type: &'a Option<String>,
    #[serde(rename = "fieldsV1", skip_serializing_if = "Option::is_none")]
    fields_v1: Option<OwnedFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subresource: &'a Option<String>,
}

impl<'a> From<&'a ObjectMeta> for StructMetadata<'a> {
    fn from(metadata: &'a ObjectMeta) -> Self {
        Self {
            name: &metadata.name,
            generate_name: &metadata.generate_name,
            namespace: &metadata.namespace,
            self_link: &metadata.self_link,
            uid: &metadata.uid,
            resource_version: &metadata.resource_version,
            generation: metadata.generation,
            creation_timestamp: &metadata.creation_timestamp,
            deletion_timestamp: &metadata.deletion_timestamp,
            deletion_grace_period_seconds: metadata.deletion_grace_period_seconds,
            labels: metadata.labels.as_ref(),
            annotations: metadata.annotations.as_ref(),
            owner_references: metadata.owner_references.as_ref().map(|all| all.iter().map(Owner::from).collect()),
            finalizers: metadata.finalizers.as_deref(),
            managed_fields: metadata.managed_fields.as_ref().map(|all| all.iter().map(Manager::from).collect()),
        }
    }
}

impl<'a> From<&'a OwnerReference> for Owner<'a> {
    fn from(owner: &'a OwnerReference) -> Self {
        Self {
            api_version: &owner.api_version,
            kind: &owner.kind,
            name: &owner.name,
            uid: &owner.uid,
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        }
    }
}

impl<'a> From<&'a ManagedFieldsEntry> for Manager<'a> {
    fn from(entry: &'a ManagedFieldsEntry) -> Self {
        Self {
            manager: &entry.manager,
            operation: &entry.operation,
            api_version: &entry.api_version,
            time: &entry.time,
            fields_type: &entry.fields_type,
            fields_v1: entry.fields_v1.as_ref().map(|fields| OwnedFields(&fields.0)),
            subresource: &entry.subresource,
        }
    }
}

/// Owned fields in the order of path elements (`PathElement.Less` of structured-merge-diff).
struct OwnedFields<'a>(&'a Value);

impl Serialize for OwnedFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(fields) = self.0 else {
            return self.0.serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(fields.len()))?;
        // Only the names of fields sort like their text.
        if fields.keys().all(|name| name.starts_with("f:") || name == ".") {
            for (name, value) in fields {
                map.serialize_entry(name, &Self(value))?;
            }
            return map.end();
        }
        let mut elements: Vec<_> = fields.iter().map(|(name, value)| (Element::new(name), name, value)).collect();
        elements.sort_by(|(left, ..), (right, ..)| left.cmp(right));
        for (_, name, value) in elements {
            map.serialize_entry(name, &Self(value))?;
        }
        map.end()
    }
}

/// A path element, for comparisons.
enum Element<'a> {
    Itself,
    Field(&'a str),
    Key(Value),
    Value(Value),
    Index(u64),
}

impl<'a> Element<'a> {
    fn new(text: &'a str) -> Self {
        match text.split_once(':') {
            None => Self::Itself,
            Some(("k", key)) => Self::Key(serde_json::from_str(key).unwrap_or_default()),
            Some(("v", value)) => Self::Value(serde_json::from_str(value).unwrap_or_default()),
            Some(("i", index)) => Self::Index(index.parse().unwrap_or_default()),
            Some((_, name)) => Self::Field(name),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Itself => 0,
            Self::Field(_) => 1,
            Self::Key(_) => 2,
            Self::Value(_) => 3,
            Self::Index(_) => 4,
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) | (Self::Value(left), Self::Value(right)) => compare(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Compares values as structured-merge-diff: numbers, strings, booleans, lists, maps and null, in this order.
fn compare(left: &Value, right: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let different =
                left.iter().zip(right).map(|(left, right)| compare(left, right)).find(|order| order.is_ne());
            different.unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let pairs = left.iter().zip(right);
            let compared = pairs.map(|(left, right)| left.0.cmp(right.0).then_with(|| compare(left.1, right.1)));
            compared.clone().find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(order: FieldOrder, value: &Value) -> String {
        serde_json::to_string(&order.order(value)).unwrap()
    }

    #[test]
    fn fields_of_built_in_kinds_have_the_order_of_the_struct() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "labels": { "b": "", "a": "" }, "name": "p" },
            "spec": {
                "containers": [{ "image": "i", "name": "c" }], "overhead": { "memory": "1", "cpu": "1" },
                "volumes": [{ "emptyDir": {}, "name": "v" }],
            },
        });
        let expected = concat!(
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"","b":""}},"#,
            r#""spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i"}],"#,
            r#""overhead":{"cpu":"1","memory":"1"}}}"#
        );
        assert_eq!(text(FieldOrder::from_object(&pod), &pod), expected);
    }

    #[test]
    fn schemas_are_ordered_at_every_level() {
        let schema =
            json!({ "properties": { "a": { "type": "array", "items": { "type": "object", "format": "f" } } } });
        let order = FieldOrder::Struct(Types::all().schema().unwrap());
        let expected = r#"{"properties":{"a":{"type":"array","items":{"type":"object","format":"f"}}}}"#;
        assert_eq!(text(order, &schema), expected);
    }

    #[test]
    fn metadata_has_the_order_of_the_struct() {
        let metadata = json!({
            "name": "a", "generateName": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 0, "labels": {}, "annotations": {}, "finalizers": [], "selfLink": "s",
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true, "blockOwnerDeletion": true,
            }],
            "managedFields": [{
                "manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": { "f:a": {} }, "subresource": "status",
            }],
        });
        let typed: ObjectMeta = serde_json::from_value(metadata.clone()).unwrap();
        let order = FieldOrder::Struct(Types::all().named("meta.v1.ObjectMeta").unwrap());
        assert_eq!(serde_json::to_string(&StructMetadata::from(&typed)).unwrap(), text(order, &metadata));
    }

    #[test]
    fn owned_fields_have_the_order_of_path_elements() {
        let fields = json!({
            ".": {}, "f:b": {}, "i:10": {}, "i:9": {}, "k:{\"port\":443}": {}, "k:{\"port\":80}": {}, "v:\"x\"": {}, "v:2": {},
        });
        let expected =
            r#"{".":{},"f:b":{},"k:{\"port\":80}":{},"k:{\"port\":443}":{},"v:2":{},"v:\"x\"":{},"i:9":{},"i:10":{}}"#;
        assert_eq!(serde_json::to_string(&OwnedFields(&fields)).unwrap(), expected);
    }
}
