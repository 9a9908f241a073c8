//! The schemas of built-in types as OpenAPI publishes them: by name, with descriptions and markers.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{markers, types::types_of};

/// The type of defaults and of the values of enums in definitions.
const JSON: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON";

/// The prefix of references in OpenAPI documents.
const COMPONENTS: &str = "#/components/schemas/";

/// Returns the schemas of a type and of all types that it references.
pub(crate) fn published<T: JsonSchema>() -> Map<String, Value> {
    let mut types = types_of::<T>();
    for (name, schema) in &mut types {
        if let Some(schema) = schema.as_object_mut() {
            ["$schema", "$defs", "title"].iter().for_each(|keyword| drop(schema.remove(*keyword)));
        }
        // Any JSON value. The real server declares no type.
        if name == JSON
            && let Some(schema) = schema.as_object_mut()
        {
            schema.remove("type");
        }
        rewrite_references(schema);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
        for (field, property) in properties {
            markers::of_field(name, field)
                .filter(|marker| marker.is_published())
                .for_each(|marker| marker.apply_to(property));
        }
    }
    types
}

/// Rewrites references to the published schemas. A reference with sibling keywords is wrapped in `allOf`, as siblings
/// are ignored otherwise.
fn rewrite_references(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(rewrite_references),
        Value::Object(fields) => {
            fields.values_mut().for_each(rewrite_references);
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            if let Some(name) = name {
                let reference = json!({ "$ref": format!("{COMPONENTS}{name}") });
                fields.remove("$ref");
                if fields.is_empty() {
                    *schema = reference;
                } else {
                    fields.insert("allOf".to_owned(), json!([reference]));
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;

    use super::*;

    #[test]
    fn published_types_have_descriptions_and_references() {
        let types = published::<Deployment>();
        let deployment = &types["io.k8s.api.apps.v1.Deployment"];
        assert_eq!(deployment["description"], "Deployment enables declarative updates for Pods and ReplicaSets.");
        let spec = &deployment["properties"]["spec"];
        assert_eq!(spec["allOf"], json!([{ "$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec" }]));
        assert!(types.contains_key("io.k8s.api.core.v1.Container"));
        let text = Value::Object(types).to_string();
        assert!(!text.contains("$defs") && !text.contains("$schema"));
    }
}
