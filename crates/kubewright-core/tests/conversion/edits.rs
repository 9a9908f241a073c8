//! Edits in a spoke: each changes one field of the hub, and what is stored never overrides it.

use serde_json::json;

use super::*;

/// Shows a hub object in `v1`, edits its spec, and returns the spec in the hub without what is the same in all objects.
fn edited(hub: Value, edit: impl FnOnce(&mut Value)) -> Value {
    let mut shown = convert(&widget(V2, hub_spec(hub)), V1);
    edit(&mut shown["spec"]);
    convert(&shown, V2)["spec"].clone()
}

#[test]
fn an_edit_overrides_what_is_stored() {
    let spec = edited(json!({"interval": "1m", "size": 5_000_000_000_i64}), |spec| {
        spec["timeInterval"] = 40.into();
        spec["size"] = 7.into();
    });
    assert_eq!((&spec["interval"], &spec["size"]), (&json!("40s"), &json!(7)));
}

#[test]
fn an_edit_of_another_field_restores_what_is_stored() {
    let spec =
        edited(json!({"interval": "1m", "mode": "Replicated", "color": "red"}), |spec| spec["replicas"] = 3.into());
    assert_eq!(spec["interval"], "1m");
    assert_eq!(spec["mode"], "Replicated");
    assert_eq!(spec["color"], "red");
    assert_eq!(spec["replicas"], 3);
}

#[test]
fn a_removed_field_is_not_restored() {
    let spec = edited(json!({"size": 5_000_000_000_i64}), |spec| drop(spec.as_object_mut().unwrap().remove("size")));
    assert!(spec.get("size").is_none());
}

#[test]
fn a_default_that_is_edited_is_a_value() {
    let unchanged = edited(json!({}), |spec| spec["replicas"] = 2.into());
    assert!(unchanged.get("level").is_none());
    let changed = edited(json!({}), |spec| spec["logLevel"] = "warn".into());
    assert_eq!(changed["level"], "warn");
}

#[test]
fn items_with_keys_are_found_by_their_keys() {
    let rules = json!([{"id": "a", "comment": "of a"}, {"id": "b", "comment": "of b", "weight": 1}]);
    let spec = edited(json!({"rules": rules}), |spec| {
        assert_eq!(spec["rules"], json!([{"name": "a"}, {"name": "b", "weight": 1}]));
        spec["rules"] = json!([{"name": "c"}, {"name": "b", "weight": 2}]);
    });
    assert_eq!(spec["rules"], json!([{"id": "c"}, {"id": "b", "comment": "of b", "weight": 2}]));
}

#[test]
fn items_without_keys_are_found_by_their_content() {
    let steps = json!([{"command": "a", "timeout": "1s"}, {"command": "b", "timeout": "2s"}, {"command": "c"}]);
    let moved = edited(json!({"steps": steps}), |spec| {
        spec["steps"] = json!([{"command": "new"}, {"command": "b"}, {"command": "a"}]);
    });
    let expected = json!([{"command": "new"}, {"command": "b", "timeout": "2s"}, {"command": "a", "timeout": "1s"}]);
    assert_eq!(moved["steps"], expected);
    let inserted = edited(json!({"steps": steps}), |spec| {
        spec["steps"].as_array_mut().unwrap().insert(0, json!({"command": "new"}));
    });
    assert_eq!(inserted["steps"][0], json!({"command": "new"}));
    assert_eq!(inserted["steps"][2], json!({"command": "b", "timeout": "2s"}));
}

#[test]
fn an_edited_item_without_keys_is_found_by_its_position() {
    let steps = json!([{"command": "a", "timeout": "1s"}, {"command": "b", "timeout": "2s"}]);
    let spec = edited(json!({"steps": steps}), |spec| spec["steps"][1]["retries"] = 3.into());
    let expected = json!([{"command": "a", "timeout": "1s"}, {"command": "b", "retries": 3, "timeout": "2s"}]);
    assert_eq!(spec["steps"], expected);
}

#[test]
fn items_that_look_the_same_are_distinguished() {
    let steps = json!([{"command": "a", "timeout": "1s"}, {"command": "a"}, {"command": "a", "timeout": "2s"}]);
    assert_eq!(edited(json!({"steps": steps}), |_| ())["steps"], steps);
    let spec = edited(json!({"steps": steps}), |spec| spec["steps"][0]["command"] = "b".into());
    assert_eq!(spec["steps"][0], json!({"command": "b", "timeout": "1s"}));
    assert_eq!(spec["steps"][1], json!({"command": "a"}));
}

#[test]
fn an_item_that_becomes_equal_to_another_is_not_restored_from_it() {
    let numbers = json!([7, 6_000_000_000_i64]);
    let spec = edited(json!({"numbers": numbers}), |spec| spec["numbers"][0] = i32::MAX.into());
    assert_eq!(spec["numbers"], json!([i32::MAX, 6_000_000_000_i64]));
}

#[test]
fn entries_of_maps_are_found_by_their_keys() {
    let limits = json!({"cpu": {"soft": 1, "hard": 2}, "memory": {"soft": 3}});
    let spec = edited(json!({"limits": limits}), |spec| {
        assert_eq!(spec["limits"], json!({"cpu": {"max": 2}, "memory": {}}));
        spec["limits"] = json!({"cpu": {"max": 4}, "disk": {}});
    });
    assert_eq!(spec["limits"], json!({"cpu": {"soft": 1, "hard": 4}, "disk": {}}));
}

#[test]
fn edits_survive_a_second_spoke() {
    let hub = widget(V2, hub_spec(json!({"interval": "1m", "color": "red", "class": "fast"})));
    let mut shown = convert(&convert(&hub, V1), V1ALPHA1);
    shown["spec"]["interval"] = "renamed".into();
    let spec = convert(&convert(&shown, V1), V2)["spec"].clone();
    assert_eq!(spec["name"], "renamed");
    assert_eq!((&spec["interval"], &spec["color"], &spec["class"]), (&json!("1m"), &json!("red"), &json!("fast")));
}
