//! Partial objects: patches, sets of managed fields, and objects without spec or metadata.

use serde_json::json;

use super::*;

fn partial(version: &str, spec: Value) -> Value {
    json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

#[test]
fn nothing_is_added_to_a_patch() {
    let hub = convert(&partial(V1, json!({"timeInterval": 30})), V2);
    assert_eq!(hub, partial(V2, json!({"interval": "30s"})));
    let spoke = convert(&partial(V2, json!({"interval": "30s"})), V1);
    assert_eq!(spoke, partial(V1, json!({"timeInterval": 30})));
    let spoke = convert(&partial(V2, json!({"rules": [{"id": "a"}], "steps": [{}], "shape": {"Square": {}}})), V1);
    assert_eq!(spoke, partial(V1, json!({"rules": [{"name": "a"}], "steps": [{}], "shape": {"square": {}}})));
}

#[test]
fn what_does_not_fit_into_a_patch_is_stored() {
    let patch = partial(V2, json!({"color": "red"}));
    let converted = convert(&patch, V1);
    assert_eq!(converted["spec"], json!({}));
    assert_eq!(convert(&converted, V2), patch);
}

#[test]
fn objects_without_spec_are_converted() {
    for metadata in [json!({}), json!({"name": "a"}), json!({"uid": "u", "managedFields": [{}]})] {
        for spec in [None, Some(json!({})), Some(json!(null)), Some(json!("text"))] {
            let mut object = json!({"apiVersion": V2, "kind": "Widget", "metadata": metadata});
            object.as_object_mut().unwrap().extend(spec.map(|spec| ("spec".to_owned(), spec)));
            for version in [V1, V1ALPHA1] {
                assert_eq!(convert(&convert(&object, version), V2), object);
            }
        }
    }
}

#[test]
fn objects_without_metadata_are_converted() {
    let object = json!({"apiVersion": V2, "kind": "Widget"});
    assert_eq!(convert(&object, V1), json!({"apiVersion": V1, "kind": "Widget"}));
    let object = json!({"apiVersion": V2, "kind": "Widget", "metadata": "text", "spec": {"name": "n"}});
    assert_eq!(convert(&object, V1)["spec"], json!({"name": "n"}));
}

#[test]
fn managed_fields_make_an_object_complete() {
    let mut object = partial(V1, json!({}));
    assert!(convert(&object, V2)["spec"].get("replicas").is_none());
    object["metadata"]["managedFields"] = json!([{"manager": "m"}]);
    assert_eq!(convert(&object, V2)["spec"]["replicas"], 1);
}

#[test]
fn a_value_that_a_function_rejects_is_an_error_in_a_patch_only() {
    let error = converter().convert(partial(V1, json!({"timeInterval": "text"})), V2).unwrap_err().to_string();
    assert!(error.starts_with("cannot convert `spec.timeInterval`: "), "{error}");
    let complete = widget(V1, json!({"timeInterval": "text", "logLevel": "info"}));
    let converted = convert(&complete, V2);
    assert!(converted["spec"].get("interval").is_none());
    assert_eq!(convert(&converted, V1), complete);
}

#[test]
fn objects_that_cannot_be_converted_are_rejected() {
    for (object, version, expected) in [
        (json!([]), V1, "expected an object, not a list"),
        (json!({"kind": "Widget"}), V1, "no `apiVersion`"),
        (json!({"apiVersion": V2}), V1, "kind `` is not converted here; expected `Widget`"),
        (json!({"apiVersion": V2, "kind": "Gadget"}), V1, "kind `Gadget`"),
        (json!({"apiVersion": "example.com/v3", "kind": "Widget"}), V1, "unknown version `example.com/v3`"),
        (json!({"apiVersion": V2, "kind": "Widget"}), "v1", "expected one of example.com/v2, example.com/v1,"),
    ] {
        let error = converter().convert(object, version).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_object_in_the_desired_version_is_unchanged() {
    let hub = partial(V2, json!({"color": "red"}));
    assert_eq!(convert(&hub, V2), hub);
}

#[test]
fn a_converter_describes_itself() {
    let converter = converter();
    assert_eq!((converter.group(), converter.kind(), converter.plural()), ("example.com", "Widget", "widgets"));
    let versions: Vec<&str> = converter.versions().map(|version| version.version).collect();
    assert_eq!(versions, ["v2", "v1", "v1alpha1"]);
}
