//! The schemas of Kubernetes' own types as OpenAPI publishes them: by name, described, and with the marks they lack.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{marks, types::types_of};

/// Where references lead to.
const COMPONENTS: &str = "#/components/schemas/";

/// The schema of a type and of all types it is made of.
pub(crate) fn published<T: JsonSchema>() -> Map<String, Value> {
    let mut types = types_of::<T>();
    for (name, schema) in &mut types {
        if let Some(schema) = schema.as_object_mut() {
            ["$schema", "$defs", "title"].iter().for_each(|keyword| drop(schema.remove(*keyword)));
        }
        refer(schema);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
        for (field, property) in properties {
            marks::of(name, field).filter(|mark| mark.zero().is_none()).for_each(|mark| mark.put(property));
        }
    }
    types
}

/// Turns references, wherever they are, to where types are published. What stands beside one counts only if it is wrapped.
fn refer(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(refer),
        Value::Object(fields) => {
            fields.values_mut().for_each(refer);
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
    fn types_are_described_and_refer_to_each_other() {
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
