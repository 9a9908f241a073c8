//! The schemas of built-in kinds: those of k8s-openapi's types, with the marks they lack

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    BuiltIn,
    marks::{self, Mark},
};
use crate::{
    kinds::group_version,
    managed_fields::{path::fields, scale::ReplicaPaths, types::Type},
};

/// What follows from the type of a kind.
#[derive(Debug)]
pub(crate) struct Form {
    /// The title of a schema is the name of its Go type.
    pub(crate) schema: JSONSchemaProps,
    /// How its fields are merged and owned, by version.
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) replica_paths: ReplicaPaths,
    /// The fields an object of nothing has: structs in Go are always there.
    pub(crate) nothing: Value,
}

impl Form {
    pub(super) fn of<K: JsonSchema + k8s_openapi::Resource>() -> Self {
        let definitions = Definitions::of::<K>();
        let name = K::schema_name();
        let mut schema = definitions.inlined(&name);
        if let Some(status) = schema.pointer_mut("/properties/status") {
            relax(status);
        }
        let schema: JSONSchemaProps = serde_json::from_value(schema).expect("it is a schema of plain keywords");
        let mut nothing = definitions.zero(&name);
        nothing["metadata"] = json!({});
        let version = group_version(K::GROUP, BuiltIn::VERSION);
        Self {
            types: [(version.clone(), Type::of_kind(Some(&schema)))].into(),
            replica_paths: [(version, Some(fields(&["spec", "replicas"])))].into(),
            schema,
            nothing,
        }
    }
}

/// The schemas of the types a kind is made of, by name.
struct Definitions(Map<String, Value>);

impl Definitions {
    fn of<K: JsonSchema>() -> Self {
        let root = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<K>();
        let mut root = Value::from(root);
        let mut definitions = match root["$defs"].take() {
            Value::Object(definitions) => definitions,
            _ => Map::new(),
        };
        definitions.insert(K::schema_name().into_owned(), root);
        Self(definitions)
    }

    /// The schema of a type, with those of its fields in place of references to them.
    fn inlined(&self, name: &str) -> Value {
        let mut schema = json!({ "title": go_name(name) });
        let Some(Value::Object(written)) = self.0.get(name) else {
            return schema;
        };
        for keyword in ["type", "format", "required", "x-kubernetes-int-or-string"] {
            if let Some(value) = written.get(keyword) {
                schema[keyword] = value.clone();
            }
        }
        if marks::is_atomic(name) {
            schema["x-kubernetes-map-type"] = json!("atomic");
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
            return self.inlined(name);
        }
        let mut schema = json!({});
        for keyword in ["type", "format", "x-kubernetes-int-or-string"] {
            if let Some(value) = written.get(keyword) {
                schema[keyword] = value.clone();
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(value) = written.get(keyword) {
                schema[keyword] = self.value(value);
            }
        }
        schema
    }

    /// What is in a struct that nothing was written to.
    fn zero(&self, name: &str) -> Value {
        let field = |(field, property): (&String, &Value)| {
            let zero = marks::of(name, field).find_map(Mark::zero)?;
            let inside = reference(property).filter(|_| zero.is_object());
            Some((field.clone(), inside.map_or(zero, |name| self.zero(name))))
        };
        let properties = self.0.get(name).and_then(|schema| schema["properties"].as_object());
        properties.into_iter().flatten().filter_map(field).collect::<Map<_, _>>().into()
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
