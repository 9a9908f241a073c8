//! The schemas of built-in kinds: those of k8s-openapi's types, with the marks they lack.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_crd::value;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    marks::{self, Mark},
    published::published,
    typed,
    types::types_of,
};
use crate::{
    api::kind::{Kind, group_version},
    resource::managed_fields::{path::fields, scale::ReplicaPaths, types::Type},
};

const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
/// The title of texts that stand for bytes.
pub(super) const BYTES: &str = "[]uint8";

/// What follows from the type of a kind.
#[derive(Debug)]
pub(crate) struct TypeInfo {
    /// The schema of the objects; its title is the name of the Go type. Namespaces and definitions are read by their types.
    pub(crate) schema: Option<Value>,
    /// The schema that strategic merge patches go by.
    pub(crate) patch_schema: Value,
    /// The fields of an object that the Go type does not have, if there is no schema.
    pub(crate) unknown_fields: fn(&Kind, &Map<String, Value>) -> Vec<String>,
    /// How its fields are merged and owned, by version.
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) replica_paths: ReplicaPaths,
    /// The fields an object of nothing has: structs in Go are always there.
    pub(crate) nothing: Value,
    /// The schemas that OpenAPI publishes of it.
    pub(crate) published: fn() -> Map<String, Value>,
    /// The types it is made of.
    #[cfg(test)]
    types_of: fn() -> Map<String, Value>,
}

impl TypeInfo {
    pub(super) fn of<K: JsonSchema + k8s_openapi::Resource>() -> Self {
        let definitions = Definitions(types_of::<K>());
        let name = K::schema_name();
        let mut schema = definitions.inlined(&name);
        if let Some(status) = schema.pointer_mut("/properties/status") {
            relax(status);
        }
        let mut nothing = definitions.zero(&name);
        nothing["metadata"] = json!({});
        let version = group_version(K::GROUP, K::VERSION);
        Self {
            types: [(version.clone(), Type::of_kind(Some(&schema)))].into(),
            replica_paths: [(version, Some(fields(&["spec", "replicas"])))].into(),
            patch_schema: schema.clone(),
            schema: Some(schema),
            unknown_fields: |_, _| Vec::new(),
            nothing,
            published: published::<K>,
            #[cfg(test)]
            types_of: types_of::<K>,
        }
    }
}

impl TypeInfo {
    /// The form of a kind that is read by its type and not by a schema.
    pub(super) fn typed<K: JsonSchema + Serialize + DeserializeOwned>(
        types: &BTreeMap<String, Type>,
        nothing: Value,
        status: Option<Value>,
    ) -> Self {
        let metadata = Definitions(types_of::<ObjectMeta>()).inlined(&ObjectMeta::schema_name());
        let mut patch_schema = json!({ "properties": { "metadata": metadata } });
        if let Some(status) = status {
            patch_schema["properties"]["status"] = status;
        }
        Self {
            schema: None,
            patch_schema,
            unknown_fields: typed::unknown_fields::<K>,
            types: types.clone(),
            replica_paths: ReplicaPaths::new(),
            nothing,
            published: published::<K>,
            #[cfg(test)]
            types_of: types_of::<K>,
        }
    }
}

/// The schemas of the types a kind is made of, by name.
struct Definitions(Map<String, Value>);

impl Definitions {
    /// The schema of a type, with those of its fields in place of references to them.
    fn inlined(&self, name: &str) -> Value {
        let mut schema = json!({ "title": go_name(name) });
        let Some(written) = self.0.get(name) else {
            return schema;
        };
        copy(&mut schema, written, &["type", "format", "required", "x-kubernetes-int-or-string", MAP_TYPE]);
        if name.ends_with(".RawExtension") {
            schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        }
        if let Some(Value::Object(properties)) = written.get("properties") {
            let marked = properties.iter().map(|(field, property)| {
                let mut property = self.value(property);
                marks::of(name, field).for_each(|mark| mark.put(&mut property));
                (field.clone(), property)
            });
            schema["properties"] = marked.collect::<Map<_, _>>().into();
        }
        schema
    }

    /// The schema of a field, an item or a further property.
    fn value(&self, written: &Value) -> Value {
        if let Some(name) = reference(written) {
            let mut schema = self.inlined(name);
            copy(&mut schema, written, &["default", MAP_TYPE]);
            return schema;
        }
        let mut schema = json!({});
        copy(
            &mut schema,
            written,
            &["type", "format", "x-kubernetes-int-or-string", "default", LIST_TYPE, LIST_KEYS, MAP_TYPE],
        );
        // Bytes are checked when they are read; none at all are bytes, too, which the format does not know.
        if schema["format"] == "byte" {
            schema = json!({ "type": "string", "title": BYTES });
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(value) = written.get(keyword) {
                schema[keyword] = self.value(value);
            }
        }
        schema
    }

    /// What is in a struct that nothing was written to: Go always writes what is required, be it null.
    fn zero(&self, name: &str) -> Value {
        let schema = self.0.get(name).unwrap_or(&Value::Null);
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let field = |(field, property): (&String, &Value)| {
            let marked = marks::of(name, field).find_map(Mark::zero);
            let is_many = matches!(property["type"].as_str(), Some("array" | "object"));
            let zero = marked.or_else(|| (is_many && required.contains(&json!(field))).then_some(Value::Null))?;
            let inside = reference(property).filter(|_| zero.is_object());
            Some((field.clone(), inside.map_or(zero, |name| self.zero(name))))
        };
        let properties = schema["properties"].as_object();
        properties.into_iter().flatten().filter_map(field).collect::<Map<_, _>>().into()
    }
}

/// Copies the keywords that are there.
fn copy(to: &mut Value, from: &Value, keywords: &[&str]) {
    for keyword in keywords {
        if let Some(value) = from.get(keyword) {
            to[keyword] = value.clone();
        }
    }
}

/// Fills in defaults. Only what is null by default may be null; no schema can say that it is.
pub(crate) fn default(fields: &mut Map<String, Value>, schema: &Value) {
    value::default(fields, schema);
    fill_nulls(fields, schema);
}

fn fill_nulls(fields: &mut Map<String, Value>, schema: &Value) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        match fields.get_mut(name) {
            Some(value) => fill_nulls_in(value, property),
            None if property["nullable"] == true => {
                fields.insert(name.clone(), Value::Null);
            }
            None => {}
        }
    }
}

fn fill_nulls_in(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => fill_nulls(fields, schema),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_nulls_in(item, &schema["items"])),
        _ => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// `v1.PodSpec`: what is after the last but one dot.
fn go_name(name: &str) -> &str {
    let start = name.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    &name[start..]
}

/// Nothing of a status is asked for: what Go always writes is there, be it empty.
fn relax(schema: &mut Value) {
    let required = schema.as_object_mut().and_then(|schema| schema.remove("required")).unwrap_or_default();
    for name in required.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(property) = schema["properties"].get_mut(name) {
            Mark::Zero(zero(property)).put(property);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(|properties| properties.values_mut()).for_each(relax);
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get_mut(keyword) {
            relax(schema);
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

    /// The fields of all types that the kinds are made of, as the kinds have them, and whether the data of the real server says the same
    /// of them.
    fn types() -> Map<String, Value> {
        super::super::all().flat_map(|facts| (facts.type_info().types_of)()).collect()
    }

    #[test]
    fn every_mark_is_on_a_field_there_is_and_says_something_new() {
        let types = types();
        for (type_, field, mark) in marks::FIELDS {
            let property = types
                .iter()
                .find(|(name, _)| marks::is(name, type_))
                .and_then(|(_, schema)| schema["properties"].get(field));
            let property = property.unwrap_or_else(|| panic!("{type_} has no {field} to be {mark:?}"));
            // Where nothing is, a zero of the data is not.
            if mark.zero().is_some() {
                continue;
            }
            let mut marked = property.clone();
            mark.put(&mut marked);
            assert_ne!(&marked, property, "{type_}.{field} is {mark:?} without a mark");
        }
        let marked: BTreeSet<_> =
            marks::FIELDS.iter().map(|(type_, field, mark)| format!("{type_}.{field} {mark:?}")).collect();
        assert_eq!(marked.len(), marks::FIELDS.len(), "a mark is there twice");
    }

    #[test]
    fn every_kind_has_a_schema_and_merges_by_it() {
        for facts in super::super::all() {
            let form = facts.type_info();
            assert_eq!(form.types.len(), 1);
            let Some(schema) = &form.schema else { continue };
            assert_eq!(schema["title"], format!("{}.{}", facts.version, facts.kind));
            let named = |name: &str| schema["properties"].get(name).is_some();
            assert_eq!(named("status"), facts.has_status, "{}", facts.kind);
        }
    }
}
