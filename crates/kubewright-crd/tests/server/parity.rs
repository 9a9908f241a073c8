//! Compares the schemas of built-in types with the OpenAPI document of the server.

use std::collections::BTreeMap;

use envtest::{Assets, ControlPlane};
use k8s_openapi::api::{
    apps::v1::{DeploymentSpec, StatefulSetSpec},
    batch::v1::JobTemplateSpec,
    core::v1::{PodTemplateSpec, ServiceSpec},
    networking::v1::{IngressSpec, NetworkPolicySpec},
    resource::v1::ResourceClaimSpec,
};
use kubewright_crd::structural::{self, EmbeddedMetadata, Options};
use libtest_mimic::Failed;
use overlay::Documents;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

/// Every list type, map type, set of keys, default, format and list of required fields, by path.
type Properties = BTreeMap<String, String>;

pub(super) fn compare(assets: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let documents = overlay::documents(assets, control_plane.kubeconfig())?;
    compare_type::<PodTemplateSpec>(&documents)?;
    compare_type::<JobTemplateSpec>(&documents)?;
    compare_type::<DeploymentSpec>(&documents)?;
    compare_type::<StatefulSetSpec>(&documents)?;
    compare_type::<ServiceSpec>(&documents)?;
    compare_type::<IngressSpec>(&documents)?;
    compare_type::<NetworkPolicySpec>(&documents)?;
    compare_type::<ResourceClaimSpec>(&documents)?;
    Ok(())
}

/// Compares the properties of one type.
fn compare_type<T: JsonSchema>(documents: &Documents) -> Result<(), Failed> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let it = generator.subschema_for::<T>().to_value();
    let schema = json!({"type": "object", "properties": {"it": it}, "$defs": generator.take_definitions(true)});
    let options = Options { metadata: EmbeddedMetadata::Full, ..Options::default() };
    let converted = structural::convert(&schema, &options).map_err(|errors| format!("{errors:?}"))?;
    let (mut actual, mut expected) = (Properties::new(), Properties::new());
    collect_converted(&converted.schema["properties"]["it"], "", &mut actual);
    collect_server(&json!({"$ref": T::schema_name()}), "", documents, &mut expected);
    let count = |property: &str| expected.keys().filter(|key| key.ends_with(property)).count();
    println!(
        "{}: {} list types, {} map types, {} key sets, {} defaults, {} formats, {} lists of required fields",
        T::schema_name(),
        count(" list"),
        count(" map"),
        count(" keys"),
        count(" default"),
        count(" format"),
        count(" required"),
    );
    let differs = |(path, property): &(&String, &String)| expected.get(*path) != Some(*property);
    let wrong: Vec<_> = actual
        .iter()
        .filter(differs)
        .map(|(path, property)| format!("{path}: {property}, not {:?}", expected.get(path)))
        .collect();
    let missing: Vec<_> = expected.iter().filter(|(path, _)| !actual.contains_key(*path)).collect();
    match wrong.is_empty() && missing.is_empty() {
        true => Ok(()),
        false => Err(format!("{}: wrong {wrong:#?}, missing {missing:#?}", T::schema_name()).into()),
    }
}

const KEYWORDS: [(&str, &str); 4] = [
    ("x-kubernetes-list-type", "list"),
    ("x-kubernetes-map-type", "map"),
    ("x-kubernetes-list-map-keys", "keys"),
    ("format", "format"),
];

fn record(schema: &Value, path: &str, properties: &mut Properties) {
    for (key, property) in KEYWORDS {
        if let Some(value) = schema.get(key).filter(|value| **value != "int-or-string") {
            properties.insert(format!("{path} {property}"), value.to_string());
        }
    }
    let mut required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    required.sort_unstable();
    if !required.is_empty() {
        properties.insert(format!("{path} required"), format!("{required:?}"));
    }
}

fn collect_converted(schema: &Value, path: &str, properties: &mut Properties) {
    record(schema, path, properties);
    if let Some(default) = schema.get("default") {
        properties.insert(format!("{path} default"), default.to_string());
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        collect_converted(schema, &format!("{path}.{name}"), properties);
    }
    for (key, segment) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            collect_converted(&schema[key], &format!("{path}{segment}"), properties);
        }
    }
}

/// Collects the properties in the OpenAPI document, without the defaults that its generator adds: the zero values of
/// required fields, of list items and of structs.
fn collect_server(schema: &Value, path: &str, documents: &Documents, properties: &mut Properties) {
    record(schema, path, properties);
    let references = schema
        .get("$ref")
        .into_iter()
        .chain(schema["allOf"].as_array().into_iter().flatten().filter_map(|conjunct| conjunct.get("$ref")));
    for name in references.filter_map(|name| name.as_str()?.rsplit('/').next()) {
        collect_server(&documents.definitions[name], path, documents, properties);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let is_required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let zero = [json!(""), json!(0), json!(false)];
        let default = property
            .get("default")
            .filter(|default| **default != json!({}) && !(is_required && zero.contains(default)));
        properties.extend(default.map(|default| (format!("{path} default"), default.to_string())));
        collect_server(property, &path, documents, properties);
    }
    for (key, segment) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            collect_server(&schema[key], &format!("{path}{segment}"), documents, properties);
        }
    }
}
