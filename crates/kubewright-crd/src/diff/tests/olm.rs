//! Tests of the changes that OLM rejects.

use serde_json::{Value, json};

use super::{classes, field, string, version, widget, with};
use crate::diff::{Class::Rejected, olm};

#[test]
fn olm_rejects_what_its_upgrade_check_rejects() {
    let x = |more: Value| field(&string(more));
    let object = |properties: Value, required: Value| {
        field(&json!({"type": "object", "properties": properties, "required": required}))
    };
    let text = json!({"type": "string"});
    let with_default = json!({"type": "string", "default": "a"});
    let list = |items: Value| field(&json!({"type": "array", "items": items}));
    let map = |values: Value| field(&json!({"type": "object", "additionalProperties": values}));
    let plain = || x(json!({}));
    // Each row has the paths of the rejected changes from left to right, and from right to left.
    let none: &[&str] = &[];
    for (left, right, forward, backward) in [
        (plain(), x(json!({"description": "One"})), none, none),
        (plain(), x(json!({"nullable": false})), none, none),
        (plain(), x(json!({"nullable": true})), &[".spec.x"], &[".spec.x"]),
        (plain(), x(json!({"type": "integer"})), &[".spec.x"], &[".spec.x"]),
        (plain(), x(json!({"default": "a"})), &[".spec.x"], &[".spec.x"]),
        (x(json!({"default": "a"})), x(json!({"default": "b"})), &[".spec.x"], &[".spec.x"]),
        (plain(), x(json!({"enum": ["a"]})), &[".spec.x"], none),
        (x(json!({"enum": ["a"]})), x(json!({"enum": ["a", "b"]})), none, &[".spec.x"]),
        (plain(), x(json!({"maxLength": 5})), &[".spec.x"], none),
        (x(json!({"maxLength": 5})), x(json!({"maxLength": 4})), &[".spec.x"], none),
        (x(json!({"minLength": 1})), x(json!({"minLength": 2})), &[".spec.x"], none),
        (plain(), x(json!({"pattern": "a"})), &[".spec.x"], &[".spec.x"]),
        (object(json!({"a": text}), json!([])), object(json!({}), json!([])), &[".spec.x.a"], none),
        (object(json!({"a": text}), json!([])), object(json!({"a": text}), json!(["a"])), &[".spec.x.a"], none),
        (object(json!({}), json!([])), object(json!({"a": with_default}), json!([])), none, &[".spec.x.a"]),
        (
            object(json!({}), json!([])),
            object(json!({"a": with_default}), json!(["a"])),
            &[".spec.x.a"],
            &[".spec.x.a"],
        ),
        (list(text.clone()), list(json!({"type": "integer"})), &[".spec.x[]"], &[".spec.x[]"]),
        (map(text.clone()), map(json!({"type": "string", "description": "One"})), &[".spec.x"], &[".spec.x"]),
    ] {
        let paths = |old, new| olm::compare(old, new).into_iter().map(|change| change.path).collect::<Vec<_>>();
        assert_eq!(paths(&left, &right), forward, "{left} -> {right}");
        assert_eq!(paths(&right, &left), backward, "{right} -> {left}");
    }
    assert_eq!(olm::compare(&widget(), &with("/spec/scope", json!("Cluster")))[0].path, "spec.scope");
    assert_eq!(olm::compare(&widget(), &with("/spec/names/listKind", json!("Widgets"))), [], "clients are ignored");
}

#[test]
fn olm_compares_stored_and_served_versions() {
    let schema = |properties: Value| json!({"type": "object", "properties": properties});
    let with_versions = |versions: Vec<Value>| {
        let mut definition = widget();
        definition["spec"]["versions"] = json!(versions);
        definition
    };
    let (with_a, with_b) = (schema(json!({"a": {"type": "string"}})), schema(json!({"b": {"type": "string"}})));
    let old = with_versions(vec![version("v1", true, true, with_a.clone())]);
    let moved = with_versions(vec![version("v2", true, true, with_a.clone())]);
    assert_eq!(classes(&olm::compare(&old, &moved)), [(Rejected, "spec.versions")]);
    let mut migrated =
        with_versions(vec![version("v1", true, false, with_a.clone()), version("v2", true, true, with_a.clone())]);
    migrated["status"] = json!({"storedVersions": ["v2"]});
    assert_eq!(olm::compare(&migrated, &moved), []);
    let mut both = with_versions(vec![version("v1", true, false, with_a), version("v2", true, true, with_b)]);
    let changes = olm::compare(&old, &both);
    assert_eq!((changes.len(), changes[0].version.as_deref()), (1, Some("v1 -> v2")), "{changes:#?}");
    both["spec"]["conversion"] = json!({"strategy": "Webhook"});
    assert_eq!(olm::compare(&old, &both), []);
}
