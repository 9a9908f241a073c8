//! Fields: names, functions, numbers, defaults, and what is stored of them.

use serde_json::json;

use super::*;

const STORED: &str = "example.com/converted-v2";

#[test]
fn fields_are_renamed_and_converted() {
    let hub = widget(V2, hub_spec(json!({"size": 3, "level": "warn", "zone": "z", "class": "standard"})));
    let shown = convert(&hub, V1);
    let spec = json!({"size": 3, "logLevel": "warn", "region": "z", "replicas": 1});
    assert_eq!(shown, widget(V1, spoke_spec(spec)));
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn what_does_not_fit_is_stored() {
    let hub = widget(
        V2,
        hub_spec(json!({"interval": "1m", "size": 5_000_000_000_i64, "color": "red", "rack": "r", "class": "fast"})),
    );
    let shown = convert(&hub, V1);
    assert_eq!(shown["spec"]["timeInterval"], 60);
    assert_eq!(shown["spec"]["size"], i32::MAX);
    assert!(shown["spec"].get("color").is_none() && shown["spec"].get("rack").is_none());
    let stored = shown["metadata"]["annotations"][STORED].as_str().unwrap();
    for original in ["1m", "5000000000", "red", "fast"] {
        assert!(stored.contains(original), "{stored}");
    }
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn lost_fields_are_not_stored() {
    let hub = widget(V2, hub_spec(json!({"debug": true, "class": "standard", "level": "info"})));
    let shown = convert(&hub, V1);
    assert!(shown["metadata"].get("annotations").is_none(), "{shown}");
    assert!(convert(&shown, V2)["spec"].get("debug").is_none());
    let spoke = widget(V1, spoke_spec(json!({"trace": true, "logLevel": "info", "replicas": 1})));
    let converted = convert(&spoke, V2);
    assert!(converted["spec"].get("trace").is_none());
    assert!(converted["metadata"].get("annotations").is_none(), "{converted}");
}

#[test]
fn fields_of_the_spoke_are_stored() {
    let spoke = widget(V1, spoke_spec(json!({"paused": true, "logLevel": "info"})));
    let converted = convert(&spoke, V2);
    assert!(converted["spec"].get("paused").is_none());
    assert!(converted["metadata"]["annotations"]["example.com/converted-v1"].is_string());
    assert_eq!(convert(&converted, V1), spoke);
}

#[test]
fn defaults_are_values_of_complete_objects() {
    let spoke = widget(V1, spoke_spec(json!({"logLevel": "info"})));
    let converted = convert(&spoke, V2);
    assert_eq!(converted["spec"]["replicas"], 1);
    assert_eq!(converted["spec"]["class"], "standard");
    assert_eq!(convert(&converted, V1), spoke);

    let hub = widget(V2, hub_spec(json!({"class": "standard"})));
    let shown = convert(&hub, V1);
    assert_eq!(shown["spec"]["logLevel"], "info");
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn exchanged_names_do_not_collide() {
    let hub = widget(V2, hub_spec(json!({"class": "standard"})));
    let shown = convert(&hub, V1ALPHA1);
    assert_eq!(shown["spec"]["name"], "30s");
    assert_eq!(shown["spec"]["interval"], "n");
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn spokes_convert_through_the_hub() {
    let spoke = widget(V1, spoke_spec(json!({"paused": true, "logLevel": "warn", "region": "z"})));
    let shown = convert(&spoke, V1ALPHA1);
    assert_eq!(shown["apiVersion"], V1ALPHA1);
    assert_eq!(shown["spec"], json!({"name": "30s", "interval": "n", "zone": "z"}));
    assert_eq!(convert(&shown, V1), spoke);
}

#[test]
fn other_annotations_and_metadata_remain() {
    let mut hub = widget(V2, hub_spec(json!({"color": "red"})));
    hub["metadata"]["annotations"] = json!({"example.com/other": "x", "example.org/converted-v2": "y"});
    hub["metadata"]["labels"] = json!({"a": "b"});
    let shown = convert(&hub, V1);
    assert_eq!(shown["metadata"]["annotations"].as_object().unwrap().len(), 3);
    assert_eq!(shown["metadata"]["labels"], hub["metadata"]["labels"]);
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn values_of_other_types_are_carried() {
    for value in [json!(null), json!({"a": 1}), json!([1]), json!("text"), json!(true), json!(1.5)] {
        for field in ["interval", "size", "mode", "shape", "rules", "limits", "numbers", "zone", "level"] {
            let hub = widget(V2, hub_spec(json!({field: value.clone()})));
            let shown = convert(&hub, V1);
            assert_eq!(convert(&shown, V2), hub, "{field}: {shown}");
        }
    }
}

#[test]
fn unknown_fields_are_carried() {
    let hub = widget(V2, hub_spec(json!({"unknown": {"a": 1}, "timeInterval": "of another meaning", "paused": 3})));
    let shown = convert(&hub, V1);
    assert_eq!(shown["spec"]["unknown"], json!({"a": 1}));
    assert_eq!(shown["spec"]["timeInterval"], 30);
    assert!(shown["spec"].get("paused").is_none());
    assert_eq!(convert(&shown, V2), hub);
}

#[test]
fn invalid_annotations_are_ignored() {
    let spoke = widget(V1, spoke_spec(json!({"logLevel": "info", "replicas": 1})));
    for annotation in [json!("{"), json!("[]"), json!("{\"unknown\": 1}"), json!(3), json!("null")] {
        let mut object = spoke.clone();
        object["metadata"]["annotations"] = json!({STORED: annotation});
        assert_eq!(convert(&object, V2), convert(&spoke, V2));
    }
}

#[test]
fn annotations_of_the_version_itself_are_removed() {
    let mut hub = widget(V2, hub_spec(json!({"class": "standard", "level": "info"})));
    hub["metadata"]["annotations"] = json!({STORED: "{\"fields\": {}}"});
    assert!(convert(&hub, V1)["metadata"].get("annotations").is_none());
}

#[test]
fn annotations_have_a_limit() {
    let hub = widget(V2, hub_spec(json!({"color": "x".repeat(300_000)})));
    let error = converter().convert(hub.clone(), V1).unwrap_err().to_string();
    assert!(error.contains("262144") && error.contains("`example.com/converted-v2`"), "{error}");
    assert_eq!(converter().check(&hub).unwrap_err().to_string(), error);
    converter().check(&widget(V2, hub_spec(json!({"color": "red"})))).unwrap();
}
