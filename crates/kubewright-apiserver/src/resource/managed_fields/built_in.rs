//! The types of `Namespace` and `CustomResourceDefinition`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Value, json};

use super::types::{Type, embedded};

/// The type of `Namespace`, by version.
pub(crate) static NAMESPACE: LazyLock<BTreeMap<String, Type>> = LazyLock::new(|| {
    let type_ = embedded(json!({
        "type": "object",
        "properties": {
            "spec": { "type": "object", "properties": { "finalizers": { "type": "array", "items": { "type": "string" } } } },
            "status": { "type": "object", "properties": { "phase": { "type": "string" }, "conditions": conditions() } },
        },
    }));
    [("v1".to_owned(), type_)].into()
});

/// The type of `CustomResourceDefinition`, by version. The list of versions is atomic, so its items need no type.
pub(crate) static DEFINITION: LazyLock<BTreeMap<String, Type>> = LazyLock::new(|| {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let names = json!({
        "type": "object",
        "properties": {
            "categories": texts, "kind": text, "listKind": text, "plural": text, "shortNames": texts, "singular": text,
        },
    });
    let service = json!({
        "type": "object",
        "properties": { "name": text, "namespace": text, "path": text, "port": { "type": "integer" } },
    });
    let client_config = json!({
        "type": "object",
        "properties": { "caBundle": text, "service": service, "url": text },
    });
    let webhook = json!({
        "type": "object",
        "properties": { "clientConfig": client_config, "conversionReviewVersions": texts },
    });
    let type_ = embedded(json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "conversion": { "type": "object", "properties": { "strategy": text, "webhook": webhook } },
                    "group": text,
                    "names": names,
                    "preserveUnknownFields": { "type": "boolean" },
                    "scope": text,
                    "versions": { "type": "array", "items": { "type": "object" } },
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "acceptedNames": names,
                    "conditions": conditions(),
                    "observedGeneration": { "type": "integer" },
                    "storedVersions": texts,
                },
            },
        },
    }));
    [("apiextensions.k8s.io/v1".to_owned(), type_)].into()
});

/// Returns the empty namespace: Go always encodes its structs.
pub(crate) fn empty_namespace() -> Value {
    json!({ "metadata": {}, "spec": {}, "status": {} })
}

/// Returns the empty definition.
pub(crate) fn empty_definition() -> Value {
    let names = json!({ "plural": "", "kind": "" });
    json!({
        "metadata": {},
        "spec": { "group": "", "names": names, "scope": "", "versions": null },
        "status": { "conditions": null, "acceptedNames": names, "storedVersions": null },
    })
}

fn conditions() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "properties": {
                "lastTransitionTime": { "type": "string", "format": "date-time" },
                "message": text,
                "observedGeneration": { "type": "integer" },
                "reason": text,
                "status": text,
                "type": text,
            },
        },
    })
}
