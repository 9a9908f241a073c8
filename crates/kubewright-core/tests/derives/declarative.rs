//! The keys of `#[schema(..)]` that stand for rules: each accepts and rejects objects and updates, and values that were
//! invalid before can remain.

#![cfg(feature = "validation")]
#![allow(missing_docs, unreachable_pub, reason = "the types of an API are public")]
#![expect(clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object, Validate, validation::Invalid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A volume, with every key.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Volume {
    pub metadata: ObjectMeta,
    pub spec: VolumeSpec,
}

#[derive(Clone, Debug, Default, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeSpec {
    #[schema(monotonic, update = [no_unset])]
    pub size: Option<i64>,
    #[schema(unique = ["path", "in"], items = ..=4, update = [no_remove_item])]
    pub mounts: Option<Vec<Mount>>,
    #[schema(unique, items = ..=4, each(max_bytes = 4, neq = "it's"))]
    pub names: Option<Vec<String>>,
    #[schema(list_type = map, list_map_keys = ["name"], items = ..=4, update = [no_add_item, no_remove_item])]
    pub parts: Option<Vec<Part>>,
    #[schema(dependent_required = [snapshot_class], dependent_forbidden = [backup])]
    pub snapshot: Option<String>,
    #[schema(update = [no_set, no_modify])]
    pub snapshot_class: Option<String>,
    #[schema(each_key(length = 2..=3, pattern = r"^\w+$"), update = [no_add_item])]
    pub options: Option<BTreeMap<String, String>>,
    #[schema(each_key(values = ["left", "right"]))]
    pub sides: Option<BTreeMap<String, i32>>,
    #[schema(neq = 0)]
    pub count: Option<i32>,
    #[schema(neq = false)]
    pub ready: Option<bool>,
    #[schema(forbidden)]
    pub backup: Option<String>,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Mount {
    #[schema(length = ..=20)]
    pub path: String,
    /// Its name is reserved in CEL.
    pub r#in: i32,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Part {
    #[schema(length = ..=20)]
    pub name: String,
    pub size: Option<i32>,
}

kubewright_core::group_version! { group = "volumes.example.com", version = "v1", kinds = [Volume] }

fn volume(spec: &Value) -> Volume {
    let object = json!({
        "apiVersion": "volumes.example.com/v1", "kind": "Volume", "metadata": {"name": "a"}, "spec": spec,
    });
    serde_json::from_value(object).expect("the JSON is a volume")
}

fn errors(result: Result<(), Invalid>) -> Vec<String> {
    let errors = result.err().map(|invalid| invalid.0).unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

/// Returns the violations of a new object, each with its field.
fn created(spec: &Value) -> Vec<String> {
    errors(volume(spec).validate())
}

fn updated(old: &Value, new: &Value) -> Vec<String> {
    errors(volume(new).validate_update(&volume(old)))
}

/// Checks that there is one violation at the field with the message.
#[track_caller]
fn assert_violates(found: &[String], field: &str, message: &str) {
    let [only] = found else { panic!("expected one violation at {field}: {found:#?}") };
    assert!(only.starts_with(&format!("{field}: ")) && only.ends_with(message), "{only}");
}

#[test]
fn values_are_validated() {
    let valid = [
        json!({}),
        json!({"names": ["a", "ö"], "count": 1, "ready": true}),
        json!({"options": {"ab": "", "abc": ""}, "sides": {"left": 1}}),
        json!({"mounts": [{"path": "/a", "in": 1}, {"path": "/a", "in": 2}, {"path": "/b", "in": 1}]}),
        json!({"snapshot": "a", "snapshotClass": "b"}),
        json!({"snapshotClass": "b"}),
    ];
    for spec in valid {
        assert_eq!(created(&spec), [""; 0], "{spec}");
    }
    let invalid = [
        (json!({"names": ["a", "a"]}), "spec.names", "its items must be unique"),
        (json!({"names": ["äää"]}), "spec.names[0]", "it must have at most 4 bytes"),
        (json!({"names": ["it's"]}), "spec.names[0]", "it must not be 'it\\'s'"),
        (json!({"count": 0}), "spec.count", "it must not be 0"),
        (json!({"ready": false}), "spec.ready", "it must not be false"),
        (json!({"options": {"a": ""}}), "spec.options", "each key must have at least 2 characters"),
        (json!({"options": {"abcd": ""}}), "spec.options", "each key must have at most 3 characters"),
        (json!({"options": {"a-b": ""}}), "spec.options", "each key must match ^\\w+$"),
        (json!({"sides": {"top": 1}}), "spec.sides", "each key must be one of 'left', 'right'"),
        (json!({"snapshot": "a"}), "spec", "snapshotClass is required beside snapshot"),
        (json!({"backup": "a"}), "spec.backup", "it must not be set"),
    ];
    for (spec, field, message) in invalid {
        assert_violates(&created(&spec), field, message);
    }
    let both = created(&json!({"snapshot": "a", "snapshotClass": "b", "backup": "c"}));
    assert!(both.iter().any(|error| error.ends_with("backup must not be set beside snapshot")), "{both:#?}");
    let mounts = created(&json!({"mounts": [{"path": "/a", "in": 1}, {"path": "/a", "in": 1}]}));
    assert!(mounts.len() == 1 && mounts[0].ends_with("its items must have a unique path and in"), "{mounts:#?}");
}

#[test]
fn updates_are_validated() {
    let part = |name: &str, size: i32| json!({"name": name, "size": size});
    let (a, b) = (json!({"path": "/a", "in": 1}), json!({"path": "/b", "in": 1}));
    let accepted = [
        (json!({"size": 1}), json!({"size": 2})),
        (json!({}), json!({"size": 2})),
        (json!({"mounts": [a]}), json!({"mounts": [b, a]})),
        (json!({"parts": [part("a", 1)]}), json!({"parts": [part("a", 2)]})),
        (json!({"snapshotClass": "a"}), json!({})),
        (json!({"options": {"ab": "", "cd": ""}}), json!({"options": {"ab": "x"}})),
    ];
    for (old, new) in accepted {
        assert_eq!(updated(&old, &new), [""; 0], "{old} to {new}");
    }
    let rejected = [
        (json!({"size": 2}), json!({"size": 1}), "spec.size", "it must not decrease"),
        (json!({"size": 2}), json!({}), "spec", "size cannot be removed"),
        (json!({"mounts": [a, b]}), json!({"mounts": [b]}), "spec.mounts", "no item may be removed"),
        (
            json!({"parts": [part("a", 1)]}),
            json!({"parts": [part("b", 1), part("a", 1)]}),
            "spec.parts",
            "no item may be added",
        ),
        (json!({"parts": [part("a", 1)]}), json!({"parts": []}), "spec.parts", "no item may be removed"),
        (json!({}), json!({"snapshotClass": "a"}), "spec", "snapshotClass cannot be set by an update"),
        (json!({"snapshotClass": "a"}), json!({"snapshotClass": "b"}), "spec.snapshotClass", "it must not be modified"),
        (
            json!({"options": {"ab": ""}}),
            json!({"options": {"ab": "", "cd": ""}}),
            "spec.options",
            "no item may be added",
        ),
    ];
    for (old, new, field, message) in rejected {
        assert_violates(&updated(&old, &new), field, message);
    }
}

#[test]
fn unchanged_invalid_values_can_remain() {
    let invalid = json!({
        "backup": "a", "count": 0, "names": ["a", "a"], "options": {"a": ""}, "sides": {"top": 1}, "snapshot": "a",
    });
    assert!(created(&invalid).len() >= 6, "{:#?}", created(&invalid));
    assert_eq!(updated(&invalid, &invalid), [""; 0]);

    // The rules of fields ratchet with the field. Those of the type are evaluated if any of its fields changes.
    let mut changed = invalid.clone();
    changed["ready"] = json!(true);
    let found = updated(&invalid, &changed);
    assert!(found.iter().all(|error| error.starts_with("spec: ")), "{found:#?}");
    changed["count"] = json!(0);
    changed["backup"] = json!("b");
    let found = updated(&invalid, &changed);
    assert!(found.iter().any(|error| error.starts_with("spec.backup: ")), "{found:#?}");
    assert!(!found.iter().any(|error| error.starts_with("spec.count: ")), "{found:#?}");
}
