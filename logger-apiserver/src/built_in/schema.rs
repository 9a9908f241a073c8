//! The schemas of built-in kinds: those of k8s-openapi's types, with the marks they lack

use std::collections::BTreeMap;

use logger_crd::value;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    BuiltIn,
    marks::{self, Mark},
    published::published,
};
use crate::{
    kinds::group_version,
    managed_fields::{path::fields, scale::ReplicaPaths, types::Type},
};

/// What follows from the type of a kind.
#[derive(Debug)]
pub(crate) struct Form {
    /// The title of a schema is the name of its Go type.
    pub(crate) schema: Value,
    /// How its fields are merged and owned, by version.
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) replica_paths: ReplicaPaths,
    /// The fields an object of nothing has: structs in Go are always there.
    pub(crate) nothing: Value,
    /// The schemas that OpenAPI publishes of it.
    pub(crate) published: fn() -> Map<String, Value>,
}

impl Form {
    pub(super) fn of<K: JsonSchema + k8s_openapi::Resource>() -> Self {
        let definitions = Definitions::of::<K>();
        let name = K::schema_name();
        let mut schema = definitions.inlined(&name);
        if let Some(status) = schema.pointer_mut("/properties/status") {
            relax(status);
        }
        let mut nothing = definitions.zero(&name);
        nothing["metadata"] = json!({});
        let version = group_version(K::GROUP, BuiltIn::VERSION);
        Self {
            types: [(version.clone(), Type::of_kind(Some(&schema)))].into(),
            replica_paths: [(version, Some(fields(&["spec", "replicas"])))].into(),
            schema,
            nothing,
            published: published::<K>,
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

    use k8s_openapi::api::{apps, batch, coordination, core, events, networking, policy, rbac};

    use super::*;

    fn all() -> Map<String, Value> {
        macro_rules! definitions {
            ($($kind:ty),* $(,)?) => { [$(Definitions::of::<$kind>()),*] };
        }
        let of_kinds = definitions![
            apps::v1::DaemonSet,
            apps::v1::Deployment,
            apps::v1::ReplicaSet,
            apps::v1::StatefulSet,
            batch::v1::CronJob,
            batch::v1::Job,
            coordination::v1::Lease,
            core::v1::Event,
            core::v1::PersistentVolumeClaim,
            core::v1::Pod,
            core::v1::Secret,
            core::v1::Service,
            core::v1::ServiceAccount,
            events::v1::Event,
            networking::v1::Ingress,
            networking::v1::NetworkPolicy,
            policy::v1::PodDisruptionBudget,
            rbac::v1::ClusterRole,
            rbac::v1::ClusterRoleBinding,
            rbac::v1::Role,
            rbac::v1::RoleBinding,
        ];
        of_kinds.into_iter().flat_map(|definitions| definitions.0).collect()
    }

    #[test]
    fn every_mark_is_on_a_field_there_is() {
        let fields_of = |(name, schema): (String, Value)| {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            fields.into_iter().map(move |(field, _)| (name.clone(), field))
        };
        let there: BTreeSet<(String, String)> = all().into_iter().flat_map(fields_of).collect();
        for (type_, field, mark) in marks::FIELDS {
            let is_there = there.iter().any(|(name, other)| other == field && marks::is(name, type_));
            assert!(is_there, "{type_} has no {field} to be {mark:?}");
        }
        for type_ in marks::ATOMIC {
            assert!(there.iter().any(|(name, _)| marks::is(name, type_)), "{type_}");
        }
    }

    #[test]
    fn every_kind_has_a_schema_and_merges_by_it() {
        for facts in &super::super::ALL {
            let form = facts.form();
            assert_eq!(form.schema["title"], format!("v1.{}", facts.kind));
            let named = |name: &str| form.schema["properties"].get(name).is_some();
            assert_eq!(named("status"), facts.has_status, "{}", facts.kind);
            assert_eq!(form.types.len(), 1);
        }
    }
}
