//! Kubernetes' own types in a definition, side by side with the server's OpenAPI of them.

use std::collections::BTreeMap;

use envtest::{Assets, ControlPlane};
use k8s_openapi::api::apps::v1::{DeploymentSpec, StatefulSetSpec};
use k8s_openapi::api::batch::v1::JobTemplateSpec;
use k8s_openapi::api::core::v1::{PodTemplateSpec, ServiceSpec};
use k8s_openapi::api::networking::v1::{IngressSpec, NetworkPolicySpec};
use k8s_openapi::api::resource::v1::ResourceClaimSpec;
use libtest_mimic::Failed;
use logger_crd::structural::{EmbeddedMetadata, Options, structural};
use overlay::Documents;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Every list type, map type, key set, default, format and required field, by path.
type Facts = BTreeMap<String, String>;

pub(super) fn holds(assets: &Assets, control_plane: &ControlPlane) -> Result<(), Failed> {
    let documents = overlay::documents(assets, control_plane.kubeconfig())?;
    same::<PodTemplateSpec>(&documents)?;
    same::<JobTemplateSpec>(&documents)?;
    same::<DeploymentSpec>(&documents)?;
    same::<StatefulSetSpec>(&documents)?;
    same::<ServiceSpec>(&documents)?;
    same::<IngressSpec>(&documents)?;
    same::<NetworkPolicySpec>(&documents)?;
    same::<ResourceClaimSpec>(&documents)?;
    Ok(())
}

/// What the definition says of a type is what the server says of it.
fn same<T: JsonSchema>(documents: &Documents) -> Result<(), Failed> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let it = generator.subschema_for::<T>().to_value();
    let schema = json!({"type": "object", "properties": {"it": it}, "$defs": generator.take_definitions(true)});
    let options = Options { metadata: EmbeddedMetadata::Full, ..Options::default() };
    let ours = structural(&schema, &options).map_err(|refusals| format!("{refusals:?}"))?;
    let (mut said, mut expected) = (Facts::new(), Facts::new());
    of_ours(&ours.schema["properties"]["it"], "", &mut said);
    of_server(&json!({"$ref": T::schema_name()}), "", documents, &mut expected);
    let count = |word: &str| expected.keys().filter(|key| key.ends_with(word)).count();
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
    let differs = |(path, fact): &(&String, &String)| expected.get(*path) != Some(*fact);
    let wrong: Vec<_> = said
        .iter()
        .filter(differs)
        .map(|(path, fact)| format!("{path}: {fact}, not {:?}", expected.get(path)))
        .collect();
    let missing: Vec<_> = expected.iter().filter(|(path, _)| !said.contains_key(*path)).collect();
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

fn record(schema: &Value, path: &str, facts: &mut Facts) {
    for (key, fact) in KEYWORDS {
        if let Some(value) = schema.get(key).filter(|value| **value != "int-or-string") {
            facts.insert(format!("{path} {fact}"), value.to_string());
        }
    }
    let mut required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    required.sort_unstable();
    if !required.is_empty() {
        facts.insert(format!("{path} required"), format!("{required:?}"));
    }
}

fn of_ours(schema: &Value, path: &str, facts: &mut Facts) {
    record(schema, path, facts);
    if let Some(default) = schema.get("default") {
        facts.insert(format!("{path} default"), default.to_string());
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        of_ours(schema, &format!("{path}.{name}"), facts);
    }
    for (key, step) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            of_ours(&schema[key], &format!("{path}{step}"), facts);
        }
    }
}

/// The server's own words. Of defaults, those that Go's generator makes up are left out: the zero value of a field that is
/// required, of an item, and of a struct.
fn of_server(schema: &Value, path: &str, documents: &Documents, facts: &mut Facts) {
    record(schema, path, facts);
    let own = schema
        .get("$ref")
        .into_iter()
        .chain(schema["allOf"].as_array().into_iter().flatten().filter_map(|one| one.get("$ref")));
    for name in own.filter_map(|name| name.as_str()?.rsplit('/').next()) {
        of_server(&documents.definitions[name], path, documents, facts);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let is_required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let zero = [json!(""), json!(0), json!(false)];
        let default = property
            .get("default")
            .filter(|default| **default != json!({}) && !(is_required && zero.contains(default)));
        facts.extend(default.map(|default| (format!("{path} default"), default.to_string())));
        of_server(property, &path, documents, facts);
    }
    for (key, step) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            of_server(&schema[key], &format!("{path}{step}"), documents, facts);
        }
    }
}
