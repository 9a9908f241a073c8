//! The schemas of built-in kinds: those of k8s-openapi's types with the markers applied.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_crd::value;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    markers::{self, Marker},
    normalize::StorageEncoding,
    published::published,
    typed,
    types::types_of,
};
use crate::{
    api::{
        kind::{Kind, group_version},
        types as go,
    },
    resource::managed_fields::{path::fields, scale::ReplicaPaths, types::Type},
};

const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
/// The title of strings that encode bytes.
pub(super) const BYTES: &str = "[]uint8";

/// Schemas and types that are derived from the Go type of a kind.
#[derive(Debug)]
pub(crate) struct TypeInfo {
    /// The name of the schema in OpenAPI, such as `io.k8s.api.core.v1.Pod`.
    pub(crate) schema_name: String,
    /// The Go type of the objects.
    pub(crate) go_type: Option<&'static go::Type>,
    pub(crate) storage_encoding: StorageEncoding,
    /// The schema of the objects; its title is the name of the Go type. Namespaces and definitions are decoded as their
    /// types and have none.
    pub(crate) schema: Option<Value>,
    /// The schema for strategic merge patches.
    pub(crate) patch_schema: Value,
    /// Returns the unknown fields of an object if there is no schema.
    pub(crate) unknown_fields: fn(&Kind, &Map<String, Value>) -> Vec<String>,
    /// The types for merging and field ownership, by version.
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) replica_paths: ReplicaPaths,
    /// The empty object: Go always encodes its structs.
    pub(crate) empty_object: Value,
    /// Returns the schemas that OpenAPI publishes for it.
    pub(crate) published: fn() -> Map<String, Value>,
    /// Returns the schemas of the types that it consists of.
    #[cfg(test)]
    types_of: fn() -> Map<String, Value>,
}

impl TypeInfo {
    pub(super) fn new<K: JsonSchema + k8s_openapi::Resource>() -> Self {
        let definitions = Definitions(types_of::<K>());
        let name = K::schema_name();
        let mut schema = definitions.inlined(&name);
        if let Some(status) = schema.pointer_mut("/properties/status") {
            make_optional(status);
        }
        let mut empty_object = definitions.zero(&name);
        empty_object["metadata"] = json!({});
        let version = group_version(K::GROUP, K::VERSION);
        Self {
            schema_name: name.into_owned(),
            go_type: go::Types::all().of_kind(K::API_VERSION, K::KIND),
            storage_encoding: storage_encoding::<K>(),
            types: [(version.clone(), Type::from_kind(Some(&schema)))].into(),
            replica_paths: [(version, Some(fields(&["spec", "replicas"])))].into(),
            patch_schema: schema.clone(),
            schema: Some(schema),
            unknown_fields: |_, _| Vec::new(),
            empty_object,
            published: published::<K>,
            #[cfg(test)]
            types_of: types_of::<K>,
        }
    }
}

impl TypeInfo {
    /// Creates the information for a kind that is decoded as its type, not by a schema.
    pub(super) fn typed<K: JsonSchema + Serialize + DeserializeOwned + k8s_openapi::Resource>(
        types: &BTreeMap<String, Type>,
        empty_object: Value,
        status: Option<Value>,
    ) -> Self {
        let metadata = Definitions(types_of::<ObjectMeta>()).inlined(&ObjectMeta::schema_name());
        let mut patch_schema = json!({ "properties": { "metadata": metadata } });
        if let Some(status) = status {
            patch_schema["properties"]["status"] = status;
        }
        Self {
            schema_name: K::schema_name().into_owned(),
            go_type: go::Types::all().of_kind(K::API_VERSION, K::KIND),
            storage_encoding: storage_encoding::<K>(),
            schema: None,
            patch_schema,
            unknown_fields: typed::unknown_fields::<K>,
            types: types.clone(),
            replica_paths: ReplicaPaths::new(),
            empty_object,
            published: published::<K>,
            #[cfg(test)]
            types_of: types_of::<K>,
        }
    }
}

/// The server of definitions has a codec other than that of the other built-in kinds.
fn storage_encoding<K: k8s_openapi::Resource>() -> StorageEncoding {
    if K::GROUP == "apiextensions.k8s.io" { StorageEncoding::Json } else { StorageEncoding::Protobuf }
}

/// The schemas of the types that a kind consists of, by name.
struct Definitions(Map<String, Value>);

impl Definitions {
    /// Returns the schema of a type with all references inlined.
    fn inlined(&self, name: &str) -> Value {
        let mut schema = json!({ "title": go_name(name) });
        let Some(source) = self.0.get(name) else {
            return schema;
        };
        copy(&mut schema, source, &["type", "format", "required", "x-kubernetes-int-or-string", MAP_TYPE]);
        if name.ends_with(".RawExtension") {
            schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        }
        if let Some(Value::Object(properties)) = source.get("properties") {
            let marked = properties.iter().map(|(field, property)| {
                let mut property = self.value(property);
                markers::of_field(name, field).for_each(|marker| marker.apply_to(&mut property));
                (field.clone(), property)
            });
            schema["properties"] = marked.collect::<Map<_, _>>().into();
        }
        schema
    }

    /// Returns the schema of a field, an item or an additional property.
    fn value(&self, source: &Value) -> Value {
        if let Some(name) = reference(source) {
            let mut schema = self.inlined(name);
            copy(&mut schema, source, &["default", MAP_TYPE]);
            return schema;
        }
        let mut schema = json!({});
        copy(
            &mut schema,
            source,
            &["type", "format", "x-kubernetes-int-or-string", "default", LIST_TYPE, LIST_KEYS, MAP_TYPE],
        );
        // Bytes are validated by the decoder: the format `byte` rejects the empty string.
        if schema["format"] == "byte" {
            schema = json!({ "type": "string", "title": BYTES });
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(value) = source.get(keyword) {
                schema[keyword] = self.value(value);
            }
        }
        schema
    }

    /// Returns the zero value of a struct: Go always encodes required fields, null included.
    fn zero(&self, name: &str) -> Value {
        let schema = self.0.get(name).unwrap_or(&Value::Null);
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let field = |(field, property): (&String, &Value)| {
            let marked = markers::of_field(name, field).find_map(Marker::zero);
            let is_many = matches!(property["type"].as_str(), Some("array" | "object"));
            let zero = marked.or_else(|| (is_many && required.contains(&json!(field))).then_some(Value::Null))?;
            let inside = reference(property).filter(|_| zero.is_object());
            Some((field.clone(), inside.map_or(zero, |name| self.zero(name))))
        };
        let properties = schema["properties"].as_object();
        properties.into_iter().flatten().filter_map(field).collect::<Map<_, _>>().into()
    }
}

/// Copies the keywords that exist.
fn copy(to: &mut Value, from: &Value, keywords: &[&str]) {
    for keyword in keywords {
        if let Some(value) = from.get(keyword) {
            to[keyword] = value.clone();
        }
    }
}

/// Sets defaults. Fields whose default is null are set to null, which the defaulting of the schema does not do.
pub(crate) fn default(fields: &mut Map<String, Value>, schema: &Value) {
    value::default(fields, schema);
    set_null_defaults(fields, schema);
}

fn set_null_defaults(fields: &mut Map<String, Value>, schema: &Value) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        match fields.get_mut(name) {
            Some(value) => set_null_defaults_in(value, property),
            None if property["nullable"] == true => {
                fields.insert(name.clone(), Value::Null);
            }
            None => {}
        }
    }
}

fn set_null_defaults_in(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => set_null_defaults(fields, schema),
        Value::Array(items) => items.iter_mut().for_each(|item| set_null_defaults_in(item, &schema["items"])),
        _ => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Returns the last two segments of a name: `v1.PodSpec`.
fn go_name(name: &str) -> &str {
    let start = name.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    &name[start..]
}

/// Makes the fields of a status optional: required fields get the zero values that Go encodes.
fn make_optional(schema: &mut Value) {
    let required = schema.as_object_mut().and_then(|schema| schema.remove("required")).unwrap_or_default();
    for name in required.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(property) = schema["properties"].get_mut(name) {
            Marker::Zero(zero(property)).apply_to(property);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(|properties| properties.values_mut()).for_each(make_optional);
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get_mut(keyword) {
            make_optional(schema);
        }
    }
}

fn zero(schema: &Value) -> &'static str {
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("integer" | "number"), _) => "0",
        (Some("boolean"), _) => "false",
        (Some("string"), None) => r#""""#,
        (Some("object"), _) if schema.get("properties").is_some() => "{}",
        _ => "null",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the schemas of all types that the kinds consist of, without markers.
    fn types() -> Map<String, Value> {
        super::super::all().flat_map(|facts| (facts.type_info().types_of)()).collect()
    }

    #[test]
    fn every_marker_is_on_an_existing_field_and_changes_its_schema() {
        let types = types();
        for (type_, field, marker) in markers::FIELDS {
            let property = types
                .iter()
                .find(|(name, _)| markers::is(name, type_))
                .and_then(|(_, schema)| schema["properties"].get(field));
            let property = property.unwrap_or_else(|| panic!("{type_} has no {field} to be {marker:?}"));
            // Zero values are not part of the schema.
            if marker.zero().is_some() {
                continue;
            }
            let mut marked = property.clone();
            marker.apply_to(&mut marked);
            assert_ne!(&marked, property, "{type_}.{field} is {marker:?} without a marker");
        }
        let marked: BTreeSet<_> =
            markers::FIELDS.iter().map(|(type_, field, marker)| format!("{type_}.{field} {marker:?}")).collect();
        assert_eq!(marked.len(), markers::FIELDS.len(), "duplicate markers");
    }

    #[test]
    fn every_kind_has_a_schema_and_a_type() {
        for facts in super::super::all() {
            let info = facts.type_info();
            assert_eq!(info.types.len(), 1);
            assert!(info.go_type.is_some(), "{}", facts.kind);
            let Some(schema) = &info.schema else { continue };
            assert_eq!(schema["title"], format!("{}.{}", facts.version, facts.kind));
            let named = |name: &str| schema["properties"].get(name).is_some();
            assert_eq!(named("status"), facts.has_status, "{}", facts.kind);
        }
    }
}
