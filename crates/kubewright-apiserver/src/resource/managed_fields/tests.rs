//! Properties of merging and ownership, for arbitrary objects of a type with all kinds of fields.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    check::{Duplicates, check},
    collect::collect,
    compare::{Comparison, compare},
    managers::{Manager, Managers, Operation},
    merge::merge,
    path::{PathElement, fields},
    reconcile::reconcile,
    remove::without,
    set::FieldSet,
    types::{Type, embedded},
    writer::Writer,
    *,
};

const VERSION: &str = "example.com/v1";

fn type_() -> Type {
    let text = json!({ "type": "string" });
    let item = json!({ "type": "object", "properties": { "name": text, "mode": { "type": "string", "default": "m" }, "n": { "type": "integer" } } });
    embedded(json!({
        "type": "object",
        "properties": {
            "number": { "type": "integer" },
            "port": { "x-kubernetes-int-or-string": true },
            "items": { "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "mode"], "items": item },
            "set": { "type": "array", "x-kubernetes-list-type": "set", "items": text },
            "list": { "type": "array", "items": text },
            "texts": { "type": "object", "additionalProperties": text },
            "whole": { "type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text },
            "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        },
    }))
}

fn optional(
    name: &'static str,
    value: impl Strategy<Value = Value> + 'static,
) -> BoxedStrategy<Option<(String, Value)>> {
    proptest::option::of(value.prop_map(move |value| (name.to_owned(), value))).boxed()
}

fn texts() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-c]", "[x-z]", 0..3).prop_map(|texts| json!(texts))
}

fn items() -> impl Strategy<Value = Value> {
    let item = (proptest::option::of(0..3), proptest::option::of("[m-n]"));
    proptest::collection::btree_map("[a-c]", item, 0..4).prop_map(|items| {
        let item = |(name, (number, mode)): (String, (Option<i32>, Option<String>))| {
            let mut item = json!({ "name": name });
            number.into_iter().for_each(|number| item["n"] = json!(number));
            mode.into_iter().for_each(|mode| item["mode"] = json!(mode));
            item
        };
        items.into_iter().map(item).collect()
    })
}

/// Generates objects of the type.
fn objects() -> impl Strategy<Value = Value> {
    let set = proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..4).prop_shuffle();
    let free = prop_oneof![texts(), Just(json!({ "a": { "b": [1] } })), Just(json!({ "a": [1], "b": null }))];
    vec![
        optional("number", (0..3).prop_map(|number| json!(number))),
        optional("port", prop_oneof![Just(json!(80)), Just(json!("http"))]),
        optional("items", items()),
        optional("set", set.prop_map(|set| json!(set))),
        optional("list", proptest::collection::vec("[a-b]", 0..3).prop_map(|list| json!(list))),
        optional("texts", texts()),
        optional("whole", texts()),
        optional("free", free),
    ]
    .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect()))
}

/// Applies as a manager, without the validation of a request.
fn applied(
    live: &Value,
    configuration: &Value,
    managers: Managers,
    manager: &str,
    force: bool,
) -> Option<(Value, Managers)> {
    let types = [(VERSION.to_owned(), type_())].into();
    let reset = BTreeMap::new();
    let writer = Writer {
        name: manager,
        api_version: VERSION,
        subresource: "",
        types: &types,
        reset: &reset,
        versions_are_known: true,
        convert: &|object, _| Ok(object.clone()),
    };
    let (outcome, managers) = writer.apply(live, configuration, managers, force).ok()?;
    Some((outcome.unwrap_or_else(|| live.clone()), managers))
}

fn owned(managers: &Managers, manager: &str) -> FieldSet {
    let manager = Manager::new(manager, Operation::Apply, VERSION, "");
    managers.get(&manager).map(|owned| owned.set.clone()).unwrap_or_default()
}

/// Returns whether the value at a path is an empty map or list, which merging and removal do not preserve.
fn is_empty_at(object: &Value, path: &[PathElement]) -> bool {
    let pointer: String = path.iter().map(|element| element.to_string().replace('.', "/")).collect();
    object.pointer(&pointer).is_some_and(|value| *value == json!({}) || *value == json!([]))
}

proptest! {
    #[test]
    fn equal_objects_do_not_differ(object in objects()) {
        prop_assert_eq!(check(&object, &type_(), Duplicates::Rejected), Ok(()));
        prop_assert_eq!(compare(&object, &object, &type_()), Comparison::default());
        prop_assert_eq!(merge(&object, &object, &type_()), object);
    }

    #[test]
    fn comparison_is_symmetric(first in objects(), other in objects()) {
        let (forward, backward) = (compare(&first, &other, &type_()), compare(&other, &first, &type_()));
        prop_assert_eq!((forward.added, forward.removed), (backward.removed, backward.added));
    }

    #[test]
    fn a_merge_removes_nothing_and_contains_the_applied_fields(live in objects(), configuration in objects()) {
        let merged = merge(&live, &configuration, &type_());
        let found = compare(&live, &merged, &type_());
        prop_assert!(found.removed.recursive_difference(&found.modified).is_empty(), "{found:?}");
        prop_assert_eq!(merge(&merged, &configuration, &type_()), merged.clone());
        let missing = collect(&configuration, &type_()).difference(&collect(&merged, &type_()));
        prop_assert!(missing.paths().iter().all(|path| is_empty_at(&configuration, path)), "{missing:?}");
    }

    #[test]
    fn an_object_without_its_fields_is_empty(object in objects()) {
        let rest = without(&object, &collect(&object, &type_()), &type_());
        prop_assert!(collect(&rest, &type_()).paths().iter().all(|path| path.len() == 1), "{rest}");
    }

    #[test]
    fn apply_is_idempotent(live in objects(), configuration in objects()) {
        let (first, managers) = applied(&live, &configuration, Managers::new(), "one", true).unwrap();
        let (second, after) = applied(&first, &configuration, managers.clone(), "one", false).unwrap();
        prop_assert_eq!(second, first);
        prop_assert_eq!(owned(&after, "one"), owned(&managers, "one"));
    }

    #[test]
    fn an_applier_owns_the_applied_fields(live in objects(), configuration in objects(), other in objects()) {
        let (object, managers) = applied(&live, &other, Managers::new(), "other", true).unwrap();
        let (_, managers) = applied(&object, &configuration, managers, "one", true).unwrap();
        prop_assert_eq!(owned(&managers, "one"), collect(&configuration, &type_()));
    }

    #[test]
    fn an_apply_without_conflicts_preserves_other_fields(
        configuration in objects(),
        other in objects(),
        third in objects()
    ) {
        let (object, managers) = applied(&json!({}), &other, Managers::new(), "other", true).unwrap();
        let before = owned(&managers, "other");
        let Some((object, managers)) = applied(&object, &configuration, managers, "one", false) else { return Ok(()) };
        prop_assert_eq!(owned(&managers, "other"), before.clone());
        let Some((object, managers)) = applied(&object, &third, managers, "one", false) else { return Ok(()) };
        prop_assert_eq!(owned(&managers, "other"), before);
        let lost = compare(&object, &merge(&object, &other, &type_()), &type_()).written();
        prop_assert!(lost.paths().iter().all(|path| is_empty_at(&other, path)), "{lost:?}");
    }

    #[test]
    fn an_unchanged_type_preserves_ownership(object in objects()) {
        let set = collect(&object, &type_());
        prop_assert_eq!(reconcile(set.clone(), &type_()), set);
    }
}

#[test]
fn a_change_of_times_only_is_ignored() {
    let at = |second: i64, label: &str| {
        let entry = json!({
            "manager": "m", "operation": "Apply", "apiVersion": VERSION, "fieldsType": "FieldsV1", "fieldsV1": {},
            "time": jiff::Timestamp::from_second(second).unwrap(),
        });
        let object = json!({ "metadata": { "labels": { "l": label }, "managedFields": [entry] } });
        Object::from_json(object.as_object().unwrap().clone()).unwrap()
    };
    let old = at(1, "x");
    let (mut same, mut other) = (at(2, "x"), at(2, "y"));
    ignore_timestamp_changes(&mut same, &old);
    ignore_timestamp_changes(&mut other, &old);
    assert_eq!((same, other), (old, at(2, "y")));
}

#[test]
fn a_map_that_becomes_atomic_is_owned_as_one_value() {
    let type_ = embedded(json!({
        "type": "object",
        "properties": { "a": { "type": "object", "x-kubernetes-map-type": "atomic", "properties": { "b": { "type": "string" } } } },
    }));
    let set = FieldSet::from_paths([fields(&["a", "b"]), fields(&["c"])]);
    assert_eq!(reconcile(set, &type_), FieldSet::from_paths([fields(&["a"]), fields(&["c"])]));
}

#[test]
fn a_change_of_shape_removes_the_old_fields() {
    let (map, scalar) = (json!({ "free": { "a": { "b": 1 } } }), json!({ "free": { "a": "x" } }));
    let found = compare(&map, &scalar, &type_());
    assert_eq!(found.removed, FieldSet::from_paths([fields(&["free", "a", "b"])]));
    assert_eq!(found.modified, FieldSet::from_paths([fields(&["free", "a"])]));
    let found = compare(&scalar, &map, &type_());
    assert_eq!(found.added, FieldSet::from_paths([fields(&["free", "a", "b"])]));
    assert_eq!(found.modified, FieldSet::from_paths([fields(&["free", "a"])]));
}

#[test]
fn merged_items_are_in_the_live_order_unless_the_applied_order_differs() {
    let merged = |live: &[&str], applied: &[&str]| {
        let merged = merge(&json!({ "set": live }), &json!({ "set": applied }), &type_());
        merged["set"].as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(merged(&["a", "b", "c"], &["d"]), "abcd");
    assert_eq!(merged(&["a", "b", "c", "d"], &["d", "x", "b", "y"]), "acdxby");
    assert_eq!(merged(&["a", "c", "d", "x", "b", "y"], &["c", "a"]), "cdxbya");
    // Stored lists can contain duplicates.
    assert_eq!(merged(&["a", "a", "b"], &["c"]), "aabc");
}
