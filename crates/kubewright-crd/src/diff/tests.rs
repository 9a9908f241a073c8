//! Tests of the class of each change.

mod olm;

use serde_json::{Value, json};

use super::{
    Change,
    Class::{self, Breaking, Rejected, Safe, Tightening},
    compare,
};

/// Returns a definition with one version.
fn definition(schema: Value) -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wg"], "categories": ["all"]},
            "scope": "Namespaced",
            "versions": [version("v1", true, true, schema)],
        },
    })
}

fn version(name: &str, served: bool, storage: bool, schema: Value) -> Value {
    json!({
        "name": name,
        "served": served,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
        "subresources": {"status": {}, "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }},
        "selectableFields": [{"jsonPath": ".spec.size"}],
    })
}

fn widget() -> Value {
    definition(json!({"type": "object"}))
}

/// Returns a definition with one changed field.
fn with(pointer: &str, value: Value) -> Value {
    let mut definition = widget();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    definition.pointer_mut(parent).unwrap()[name] = value;
    definition
}

fn classes(changes: &[Change]) -> Vec<(Class, &str)> {
    changes.iter().map(|change| (change.class, change.path.as_str())).collect()
}

/// Returns the only change between two definitions.
fn only(old: &Value, new: &Value) -> (Class, String) {
    let changes = compare(old, new);
    assert_eq!(changes.len(), 1, "{changes:#?}");
    (changes[0].class, changes[0].path.clone())
}

#[test]
fn equal_definitions_have_no_changes() {
    assert_eq!(compare(&widget(), &widget()), []);
    assert_eq!(compare(&Value::Null, &json!([1])), []);
}

#[test]
fn changes_of_the_definition() {
    let v1 = "/spec/versions/0";
    for (pointer, value, class, path) in [
        ("/spec/group", json!("example.org"), Rejected, "spec.group"),
        ("/spec/scope", json!("Cluster"), Rejected, "spec.scope"),
        ("/spec/names/plural", json!("things"), Rejected, "spec.names.plural"),
        ("/spec/names/kind", json!("Thing"), Rejected, "spec.names.kind"),
        ("/spec/names/listKind", json!("Widgets"), Breaking, "spec.names.listKind"),
        ("/spec/names/singular", json!("wdg"), Breaking, "spec.names.singular"),
        ("/spec/names/shortNames", json!([]), Breaking, "spec.names.shortNames"),
        ("/spec/names/shortNames", json!(["wg", "w"]), Safe, "spec.names.shortNames"),
        ("/spec/names/categories", json!([]), Safe, "spec.names.categories"),
        ("/spec/preserveUnknownFields", json!(true), Rejected, "spec.preserveUnknownFields"),
        ("/spec/conversion", json!({"strategy": "Webhook"}), Safe, "spec.conversion"),
        ("/spec/versions/0/served", json!(false), Breaking, "served"),
        ("/spec/versions/0/deprecated", json!(true), Safe, "deprecated"),
        ("/spec/versions/0/additionalPrinterColumns", json!([]), Safe, "additionalPrinterColumns"),
        ("/spec/versions/0/subresources/status", Value::Null, Breaking, "subresources.status"),
        ("/spec/versions/0/subresources/scale", Value::Null, Breaking, "subresources.scale"),
        ("/spec/versions/0/selectableFields", json!([]), Breaking, "selectableFields"),
    ] {
        assert_eq!(only(&widget(), &with(pointer, value)), (class, path.to_owned()), "{pointer}");
    }
    for (pointer, value, class, path) in [
        ("/subresources/status", Value::Null, Breaking, "subresources.status"),
        ("/subresources/scale", Value::Null, Safe, "subresources.scale"),
        ("/selectableFields", json!([]), Safe, "selectableFields"),
        ("/served", json!(false), Safe, "served"),
    ] {
        let old = with(&format!("{v1}{pointer}"), value);
        assert_eq!(only(&old, &widget()), (class, path.to_owned()), "{pointer} added");
    }
    let scale = "/spec/versions/0/subresources/scale";
    let other = with(&format!("{scale}/specReplicasPath"), json!(".spec.size"));
    assert_eq!(only(&widget(), &other), (Breaking, "subresources.scale.specReplicasPath".to_owned()));
    let mut without = widget();
    without.pointer_mut(scale).unwrap().as_object_mut().unwrap().remove("labelSelectorPath");
    assert_eq!(only(&widget(), &without), (Breaking, "subresources.scale.labelSelectorPath".to_owned()));
    assert_eq!(only(&without, &widget()), (Safe, "subresources.scale.labelSelectorPath".to_owned()));
}

#[test]
fn what_the_server_and_others_add_to_a_conversion_webhook_is_no_change() {
    let with_client = |client: Value| {
        let webhook = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
        with("/spec/conversion", json!({"strategy": "Webhook", "webhook": webhook}))
    };
    let new = with_client(json!({"service": {"name": "a", "namespace": "b"}}));
    let stored = with_client(json!({"service": {"name": "a", "namespace": "b", "port": 443}, "caBundle": "Yw=="}));
    assert_eq!(compare(&stored, &new), []);
    for changed in [
        json!({"service": {"name": "a", "namespace": "b", "port": 8443}}),
        json!({"service": {"name": "a", "namespace": "c"}}),
        json!({"service": {"name": "a", "namespace": "b"}, "caBundle": "ZA=="}),
    ] {
        assert_eq!(only(&stored, &with_client(changed)), (Safe, "spec.conversion".to_owned()));
    }
}

/// Returns a schema with more keywords.
fn extended(mut schema: Value, more: &Value) -> Value {
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

fn string(more: Value) -> Value {
    extended(json!({"type": "string"}), &more)
}

fn object(more: Value) -> Value {
    extended(json!({"type": "object"}), &more)
}

fn map(values: Value) -> Value {
    object(json!({"additionalProperties": values}))
}

/// Returns the schema of objects with unknown fields.
fn any() -> Value {
    object(json!({"x-kubernetes-preserve-unknown-fields": true}))
}

/// Checks the changes between schemas of a field. Each row has the class of the change from left to right, and from
/// right to left.
fn check(rows: impl IntoIterator<Item = (Value, Value, Class, Class)>) {
    for (left, right, forward, backward) in rows {
        let (old, new) = (field(&left), field(&right));
        assert_eq!(worst(&compare(&old, &new)), Some(forward), "{left} -> {right}");
        assert_eq!(worst(&compare(&new, &old)), Some(backward), "{right} -> {left}");
    }
}

#[test]
fn changes_of_types_and_formats() {
    let integer = |format: &str| json!({"type": "integer", "format": format});
    let int_or_string = json!({"x-kubernetes-int-or-string": true});
    check([
        (string(json!({})), json!({"type": "integer"}), Breaking, Breaking),
        (json!({"type": "integer"}), int_or_string, Breaking, Breaking),
        (string(json!({})), any(), Breaking, Breaking),
        (integer("int32"), integer("int64"), Breaking, Breaking),
        (integer("int32"), json!({"type": "integer"}), Breaking, Tightening),
        (string(json!({"format": "date-time"})), string(json!({})), Safe, Tightening),
        (string(json!({"format": "colour"})), string(json!({})), Safe, Safe),
    ]);
}

#[test]
fn changes_of_nulls_and_defaults() {
    check([
        (string(json!({"nullable": true})), string(json!({})), Tightening, Safe),
        (string(json!({"default": "a"})), string(json!({"default": "b"})), Breaking, Breaking),
        (string(json!({"default": "a"})), string(json!({})), Breaking, Safe),
    ]);
}

#[test]
fn changes_of_limits() {
    let number = |more: Value| extended(json!({"type": "number"}), &more);
    let multiple = |divisor: u8| json!({"type": "integer", "multipleOf": divisor});
    check([
        (string(json!({"enum": ["a"]})), string(json!({"enum": ["b", "a"]})), Safe, Tightening),
        (string(json!({"enum": ["a"]})), string(json!({})), Safe, Tightening),
        (string(json!({"pattern": "a"})), string(json!({"pattern": "b"})), Tightening, Tightening),
        (string(json!({"pattern": "a"})), string(json!({})), Safe, Tightening),
        (string(json!({"minLength": 1})), string(json!({"minLength": 2})), Tightening, Safe),
        (string(json!({"maxLength": 1})), string(json!({"maxLength": 2})), Safe, Tightening),
        (string(json!({"maxLength": 1})), string(json!({})), Safe, Tightening),
        (number(json!({"minimum": 1})), number(json!({"minimum": 0.5})), Safe, Tightening),
        (number(json!({"maximum": 1})), number(json!({"maximum": 1, "exclusiveMaximum": true})), Tightening, Safe),
        (multiple(4), multiple(2), Safe, Tightening),
        (multiple(4), json!({"type": "integer"}), Safe, Tightening),
    ]);
}

#[test]
fn changes_of_lists() {
    let items = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let list = |more: Value| extended(json!({"type": "array", "items": items}), &more);
    let keyed = |keys: &[&str]| list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}));
    check([
        (list(json!({"x-kubernetes-list-type": "set"})), list(json!({})), Breaking, Breaking),
        (keyed(&["name"]), keyed(&["name", "port"]), Breaking, Breaking),
    ]);
}

#[test]
fn changes_of_objects_and_maps() {
    let text = json!({"type": "string"});
    check([
        (object(json!({"x-kubernetes-map-type": "atomic"})), object(json!({})), Breaking, Breaking),
        (any(), object(json!({})), Breaking, Safe),
        (map(text.clone()), map(json!(true)), Safe, Breaking),
        (map(object(json!({"properties": {}}))), map(json!(true)), Breaking, Breaking),
        (map(text.clone()), object(json!({})), Breaking, Safe),
        (map(text.clone()), any(), Safe, Breaking),
        (map(text), map(string(json!({"maxLength": 3}))), Tightening, Safe),
    ]);
}

#[test]
fn changes_of_rules() {
    let rule = |more: Value| {
        let rule = extended(json!({"rule": "self != ''"}), &more);
        string(json!({"x-kubernetes-validations": [rule]}))
    };
    check([
        (rule(json!({})), string(json!({})), Safe, Tightening),
        (rule(json!({})), rule(json!({"message": "give a text"})), Safe, Safe),
        (rule(json!({})), rule(json!({"optionalOldSelf": true})), Tightening, Safe),
    ]);
}

#[test]
fn changes_of_combinations() {
    let (single, both) = (json!([{"required": ["a"]}]), json!([{"required": ["a"]}, {"required": ["b"]}]));
    check([
        (object(json!({"oneOf": both})), object(json!({})), Safe, Tightening),
        (object(json!({"anyOf": both})), object(json!({"anyOf": single})), Tightening, Safe),
        (object(json!({"allOf": both})), object(json!({"allOf": single})), Safe, Tightening),
        (object(json!({"not": {"required": ["a"]}})), object(json!({})), Safe, Tightening),
    ]);
}

#[test]
fn changes_of_unknown_keywords_are_not_safe() {
    check([(object(json!({"x-future": 1})), object(json!({})), Tightening, Tightening)]);
}

/// Returns a definition whose objects have one field.
fn field(schema: &Value) -> Value {
    definition(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": schema}}}}))
}

fn worst(changes: &[Change]) -> Option<Class> {
    changes.iter().map(|change| change.class).max()
}

#[test]
fn equivalent_schemas_have_no_changes() {
    let list = |more: Value| {
        let mut schema = json!({"type": "array", "items": {"type": "string"}, "description": "One"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        field(&schema)
    };
    for (old, new) in [
        (list(json!({})), list(json!({"x-kubernetes-list-type": "atomic", "description": "Two", "title": "T"}))),
        (
            field(&json!({"type": "object", "x-kubernetes-map-type": "granular"})),
            field(&json!({"type": "object", "example": {"a": 1}})),
        ),
        (field(&json!({"type": "number", "maximum": 1})), field(&json!({"type": "number", "maximum": 1.0}))),
        (
            field(&json!({"x-kubernetes-int-or-string": true})),
            field(&json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})),
        ),
    ] {
        assert_eq!(compare(&old, &new), [], "{old} -> {new}");
    }
}

#[test]
fn added_and_removed_fields() {
    let object =
        |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let text = json!({"type": "string"});
    let with_default = json!({"type": "string", "default": "a"});
    let changes_between = |old: Value, new: Value| compare(&definition(old), &definition(new));
    let none = object(json!({}), json!([]));
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let open_with = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": text}});
    for (old, new, class) in [
        (object(json!({"a": text}), json!(["a"])), none.clone(), Breaking),
        (none.clone(), object(json!({"a": text}), json!([])), Safe),
        (none.clone(), object(json!({"a": text}), json!(["a"])), Breaking),
        (none.clone(), object(json!({"a": with_default}), json!(["a"])), Safe),
        (object(json!({"a": text}), json!([])), object(json!({"a": text}), json!(["a"])), Breaking),
        (object(json!({"a": with_default}), json!([])), object(json!({"a": with_default}), json!(["a"])), Safe),
        (object(json!({"a": text}), json!(["a"])), object(json!({"a": text}), json!([])), Safe),
        (open.clone(), open_with.clone(), Tightening),
        (open_with, open, Safe),
    ] {
        let changes = changes_between(old.clone(), new.clone());
        assert_eq!(classes(&changes), [(class, ".a")], "{old} -> {new}: {changes:#?}");
    }
    let counted = |a: &Value| json!({"type": "object", "maxProperties": 1, "properties": {"a": a, "b": text}});
    let changes = changes_between(counted(&text), counted(&with_default));
    assert_eq!(classes(&changes), [(Tightening, ".a")], "the default is counted");
    let asked = |a: &Value| json!({"type": "object", "not": {"required": ["a"]}, "properties": {"a": a}});
    assert_eq!(
        classes(&changes_between(asked(&text), asked(&with_default))),
        [(Tightening, ".a")],
        "the default is excluded"
    );
    let deep = |leaf: Value| {
        object(json!({"a.b": {"type": "array", "items": {"type": "object", "additionalProperties": leaf}}}), json!([]))
    };
    let changes = changes_between(deep(json!({"type": "string", "maxLength": 1})), deep(text));
    assert_eq!(classes(&changes), [(Safe, r#"["a.b"][]{}"#)]);
}

#[test]
fn added_and_removed_versions() {
    let schema = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let with_versions = |versions: Vec<Value>| {
        let mut definition = widget();
        definition["spec"]["versions"] = json!(versions);
        definition
    };
    let v1 = with_versions(vec![version("v1", true, true, schema())]);
    let both = with_versions(vec![version("v1", true, false, schema()), version("v2", true, true, schema())]);
    let changes = compare(&v1, &both);
    assert_eq!(classes(&changes), [(Safe, "spec.versions"), (Safe, "spec.versions")], "{changes:#?}");

    let v2 = with_versions(vec![version("v2", true, true, schema())]);
    assert_eq!(only(&both, &v2), (Breaking, "spec.versions".to_owned()));
    let mut stored = both.clone();
    stored["status"] = json!({"storedVersions": ["v1", "v2"]});
    assert_eq!(only(&stored, &v2), (Rejected, "spec.versions".to_owned()));
    assert_eq!(compare(&v1, &v2)[0].class, Rejected, "what is stored cannot be read");
    let unserved = with_versions(vec![version("v1", false, false, schema()), version("v2", true, true, schema())]);
    assert_eq!(only(&unserved, &v2), (Breaking, "spec.versions".to_owned()), "objects may be stored in it");
    let mut migrated = unserved;
    migrated["status"] = json!({"storedVersions": ["v2"]});
    assert_eq!(only(&migrated, &v2), (Safe, "spec.versions".to_owned()));

    let without_field =
        with_versions(vec![version("v1", true, false, schema()), version("v2", true, true, json!({"type": "object"}))]);
    let changes = compare(&v1, &without_field);
    let lost = changes.iter().find(|change| change.class == Breaking).unwrap();
    assert_eq!((lost.path.as_str(), lost.old.as_deref()), (".a", Some("string")));
    let mut converted = without_field;
    converted["spec"]["conversion"] = json!({"strategy": "Webhook"});
    assert_eq!(worst(&compare(&v1, &converted)), Some(Safe));
    let changes = compare(&converted, &both);
    assert!(classes(&changes).contains(&(Breaking, "spec.conversion")), "{changes:#?}");
}

#[test]
fn changes_are_formatted_as_text_and_json() {
    let old = field(&json!({"type": "integer", "minimum": 1}));
    let new = field(&json!({"type": "integer", "minimum": 2}));
    let changes = compare(&old, &new);
    assert_eq!(changes[0].to_string(), "tightening: v1 .spec.x: smaller numbers are rejected (`minimum`) (1 -> 2)");
    let expected = json!({
        "version": "v1", "path": ".spec.x", "class": "tightening", "what": "smaller numbers are rejected (`minimum`)",
        "old": "1", "new": "2",
    });
    assert_eq!(changes[0].to_json(), expected);
}
