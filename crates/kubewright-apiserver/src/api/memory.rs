//! Estimates of the memory of objects, for limits in bytes. They are upper estimates for usual allocators.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference};
use serde_json::{Map, Value};

/// The overhead of an allocation, and what its size is rounded up by.
const ALLOCATION: usize = 32;
/// The number of entries that a node of a map has space for.
const NODE_ENTRIES: usize = 11;
/// The minimum number of entries of a node, if there are several nodes.
const MIN_NODE_ENTRIES: usize = 5;

/// Returns the memory of metadata, without that of the structure.
pub(crate) fn of_metadata(metadata: &ObjectMeta) -> usize {
    let ObjectMeta { annotations, finalizers, labels, managed_fields, owner_references, .. } = metadata;
    let names = [
        &metadata.generate_name,
        &metadata.name,
        &metadata.namespace,
        &metadata.resource_version,
        &metadata.self_link,
        &metadata.uid,
    ];
    let maps = [annotations, labels].into_iter().flatten();
    of_optional(&names)
        + maps
            .map(|map| {
                let entries = map.iter().map(|(name, value)| of_string(name) + of_string(value));
                of_nodes::<String>(map.len()) + entries.sum::<usize>()
            })
            .sum::<usize>()
        + finalizers.iter().map(|finalizers| of_items(finalizers, of_string)).sum::<usize>()
        + managed_fields.iter().map(|entries| of_items(entries, of_managed_fields)).sum::<usize>()
        + owner_references.iter().map(|owners| of_items(owners, of_owner)).sum::<usize>()
}

/// Returns the memory of the fields of an object.
pub(crate) fn of_fields(fields: &Map<String, Value>) -> usize {
    let entries = fields.iter().map(|(name, value)| of_string(name) + of_value(value));
    of_nodes::<Value>(fields.len()) + entries.sum::<usize>()
}

fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => of_string(text),
        Value::Array(items) => of_items(items, of_value),
        Value::Object(fields) => of_fields(fields),
    }
}

fn of_managed_fields(entry: &ManagedFieldsEntry) -> usize {
    let texts = [&entry.api_version, &entry.fields_type, &entry.manager, &entry.operation, &entry.subresource];
    of_optional(&texts) + entry.fields_v1.iter().map(|fields| of_value(&fields.0)).sum::<usize>()
}

fn of_owner(owner: &OwnerReference) -> usize {
    [&owner.api_version, &owner.kind, &owner.name, &owner.uid].into_iter().map(of_string).sum()
}

fn of_optional(texts: &[&Option<String>]) -> usize {
    texts.iter().copied().flatten().map(of_string).sum()
}

fn of_string(text: &String) -> usize {
    ALLOCATION + text.capacity()
}

fn of_items<T>(items: &Vec<T>, of_item: impl Fn(&T) -> usize) -> usize {
    ALLOCATION + items.capacity() * size_of::<T>() + items.iter().map(of_item).sum::<usize>()
}

/// Returns the memory of the nodes of a map from strings to values of this type.
fn of_nodes<V>(entries: usize) -> usize {
    entries.div_ceil(MIN_NODE_ENTRIES) * (ALLOCATION + NODE_ENTRIES * size_of::<(String, V)>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_estimate_contains_texts_at_any_depth_and_the_nodes_of_small_maps() {
        let bytes = |value: Value| of_value(&value);
        assert!(bytes(json!({ "a": [{ "b": "x".repeat(10_000) }] })) > 10_000);
        assert!(bytes(json!(["x".repeat(10_000), "x".repeat(10_000)])) > 20_000);
        let nested = (0..100).fold(json!({}), |inner, _| json!({ "f": inner }));
        assert!(nested.to_string().len() < 1_000 && bytes(nested) > 50_000, "a map has a node, however small it is");
        assert_eq!(bytes(json!(7)), 0);
    }

    #[test]
    fn the_estimate_contains_each_part_of_the_metadata() {
        let text = "x".repeat(1_000);
        let fields = json!({
            "annotations": { "a": text }, "labels": { "a": text }, "finalizers": [text], "name": text,
            "managedFields": [{ "manager": text, "fieldsV1": { "f:a": { (text.as_str()): {} } } }],
            "ownerReferences": [{ "apiVersion": "v1", "kind": "A", "name": text, "uid": "a" }],
        });
        let metadata: ObjectMeta = serde_json::from_value(fields).unwrap();
        let estimate = of_metadata(&metadata);
        assert!((7_000..20_000).contains(&estimate), "{estimate}");
    }
}
