//! The schemas of kinds, by their names in OpenAPI.

use std::sync::LazyLock;

use k8s_openapi::{
    api::{autoscaling::v1::Scale, core::v1::Namespace},
    apimachinery::pkg::apis::meta::v1::{DeleteOptions, ListMeta, ObjectMeta, Status},
};
use serde_json::{Map, Value, json};

use crate::{
    api::object::Stored,
    resource::{built_in::published, registry::Resource},
    storage::state::State,
};

const COMPONENTS: &str = "#/components/schemas/";
const CONVENTIONS: &str = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// Returns the schemas that every document contains.
pub(super) fn common() -> Map<String, Value> {
    static COMMON: LazyLock<Map<String, Value>> = LazyLock::new(|| {
        let mut common = published::<ObjectMeta>();
        common.extend(published::<ListMeta>());
        common.extend(published::<DeleteOptions>());
        common.extend(published::<Status>());
        let mut scale = published::<Scale>();
        add_type(
            &mut scale,
            "io.k8s.api.autoscaling.v1.Scale",
            &json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" }),
        );
        common.extend(scale);
        common
    });
    COMMON.clone()
}

/// Returns the schemas of a kind, its list and the types of its fields.
pub(super) fn build(state: &State, kind: &Resource) -> Map<String, Value> {
    let name = name(kind);
    let mut schemas = match kind.as_built_in() {
        Some(built_in_kind) => (built_in_kind.type_info().published)(),
        None => [(name.clone(), custom(state, kind))].into_iter().collect(),
    };
    add_type(&mut schemas, &name, &group_version_kind(kind, &kind.kind));
    schemas.insert(format!("{name}List"), list(kind, &name));
    schemas
}

/// Returns the name of the schema of a kind: that of its Go type, or for custom kinds one with the reversed group.
pub(super) fn name(kind: &Resource) -> String {
    if let Some(facts) = kind.as_built_in() {
        return facts.type_info().schema_name.clone();
    }
    let group: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{}", group.join("."), kind.version, kind.kind)
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{COMPONENTS}{name}") })
}

pub(super) fn group_version_kind(kind: &Resource, name: &str) -> Value {
    json!({ "group": kind.group, "version": kind.version, "kind": name })
}

/// Returns the definition of a custom kind.
pub(super) fn definition(state: &State, kind: &Resource) -> Option<Stored> {
    let resource = Resource::definition().group_resource();
    kind.is_custom.then(|| state.store.get(&resource, "", &kind.group_resource())).flatten()
}

/// Returns the schema in the definition of a custom kind, with the fields that every object has.
fn custom(state: &State, kind: &Resource) -> Value {
    let declared = definition(state, kind).and_then(|definition| {
        let versions = definition.field("spec.versions")?.as_array()?;
        let version = versions.iter().find(|version| version["name"] == kind.version.as_str())?;
        version.pointer("/schema/openAPIV3Schema").cloned()
    });
    let mut schema = declared.filter(Value::is_object).unwrap_or_else(|| json!({ "type": "object" }));
    expand_int_or_string(&mut schema);
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    for field in ["apiVersion", "kind", "metadata"] {
        schema["properties"][field] = common_field(field);
    }
    schema
}

/// Declares both types of int-or-string values, as the real server does in version 3.
fn expand_int_or_string(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(expand_int_or_string),
        Value::Object(fields) => {
            if fields.get("x-kubernetes-int-or-string") == Some(&json!(true)) && !fields.contains_key("anyOf") {
                fields.insert("anyOf".to_owned(), json!([{ "type": "integer" }, { "type": "string" }]));
            }
            let subschemas =
                fields.iter_mut().filter(|(name, _)| !matches!(name.as_str(), "default" | "enum" | "example"));
            subschemas.for_each(|(_, schema)| expand_int_or_string(schema));
        }
        _ => {}
    }
}

/// Returns the schema of a field that every object has.
fn common_field(field: &str) -> Value {
    static NAMESPACE: LazyLock<Map<String, Value>> = LazyLock::new(published::<Namespace>);
    NAMESPACE.get("io.k8s.api.core.v1.Namespace").map_or(Value::Null, |schema| schema["properties"][field].clone())
}

fn list(kind: &Resource, name: &str) -> Value {
    json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": common_field("apiVersion"),
            "kind": common_field("kind"),
            "metadata": { "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"), "allOf": [reference(LIST_META)] },
            "items": { "type": "array", "description": format!("List of {}. More info: {CONVENTIONS}", kind.plural), "items": reference(name) },
        },
        "x-kubernetes-group-version-kind": [group_version_kind(kind, &kind.list_kind)],
    })
}

/// Adds the group, version and kind to a schema.
fn add_type(schemas: &mut Map<String, Value>, name: &str, type_: &Value) {
    if let Some(schema) = schemas.get_mut(name) {
        schema["x-kubernetes-group-version-kind"] = json!([type_]);
    }
}
