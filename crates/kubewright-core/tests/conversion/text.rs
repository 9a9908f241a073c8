//! Conversions of the text of objects.

use serde_json::json;

use super::*;

/// A kind whose versions have the same status and name.
mod gadget {
    use std::collections::BTreeMap;

    use kubewright_core::{
        Convert, CrdSchema, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };
    use serde::{Deserialize, Serialize};

    pub mod v2 {
        use super::*;

        #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object)]
        #[genclient]
        #[convert(hub)]
        pub struct Gadget {
            pub metadata: ObjectMeta,
            pub spec: GadgetSpec,
            pub status: Option<BTreeMap<String, f64>>,
        }

        #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        #[convert(hub)]
        pub struct GadgetSpec {
            pub name: String,
            pub length: i32,
        }

        kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Gadget] }
    }

    pub mod v1 {
        use super::*;

        #[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object)]
        #[genclient]
        #[convert(hub = v2::Gadget)]
        pub struct Gadget {
            pub metadata: ObjectMeta,
            pub spec: GadgetSpec,
            pub status: Option<BTreeMap<String, f64>>,
        }

        #[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        #[convert(hub = v2::GadgetSpec)]
        pub struct GadgetSpec {
            pub name: String,
            #[convert(from = "length")]
            pub size: i32,
        }

        kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Gadget] }
    }
}

const MANAGED_FIELDS: &str = r#"[ {"manager":"m", "time":"t"} ]"#;

/// Returns the text of a complete object with managed fields, labels, a status and a field that no version has.
fn text(version: &str, spec: &str) -> String {
    format!(
        r#"{{"unknown": 1.50, "status": {{"ready": true}}, "spec": {spec}, "kind": "Widget", "apiVersion": "{version}",
            "metadata": {{"managedFields": {MANAGED_FIELDS}, "uid": "u", "labels": {{"a": "b"}}, "name": "\u0061"}}}}"#
    )
}

fn of_text(text: &str, version: &str) -> Option<String> {
    let converter = converter();
    let object = serde_json::from_str(text).unwrap();
    converter.convert_text(object, version).map(|object| serde_json::to_string(&object).unwrap())
}

#[test]
fn complete_objects_are_converted_without_decoding_their_metadata() {
    let object = text(V2, &hub_spec(json!({"level": "info", "class": "standard"})).to_string());
    let converted = of_text(&object, V1).unwrap();
    let (value, object): (Value, Value) =
        (serde_json::from_str(&converted).unwrap(), serde_json::from_str(&object).unwrap());
    assert_eq!(value, convert(&object, V1));
    assert_eq!(value["spec"]["timeInterval"], 30);
    assert!(converted.contains(MANAGED_FIELDS), "{converted}");
}

#[test]
fn fields_that_are_the_same_in_all_versions_are_not_decoded() {
    let converter = Converter::hub::<gadget::v2::Gadget>().spoke::<gadget::v1::Gadget>().build();
    let text = r#"{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"uid": "u"}, "spec": {"size": 3, "name": "\u0061"},
        "status": {"load":  0.10}}"#;
    let converted = converter.convert_text(serde_json::from_str(text).unwrap(), V2).unwrap();
    let converted = serde_json::to_string(&converted).unwrap();
    assert!(converted.contains(r#""status":{"load":  0.10}"#), "{converted}");
    assert!(converted.contains(r#""spec":{"length":3,"name":"\u0061"}"#), "{converted}");
    let decoded = converter.convert(serde_json::from_str(text).unwrap(), V2).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&converted).unwrap(), decoded);
}

#[test]
fn what_does_not_fit_is_stored_in_an_annotation() {
    let object = text(V2, &hub_spec(json!({"color": "red"})).to_string());
    let converted = of_text(&object, V1).unwrap();
    let object: Value = serde_json::from_str(&object).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&converted).unwrap(), convert(&object, V1));
    assert!(converted.contains("example.com/converted-v2"), "{converted}");
    assert_eq!(of_text(&converted, V2), None);
}

#[test]
fn an_object_of_the_version_remains() {
    let object = text(V2, "{}");
    let converted = of_text(&object, V2).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&converted).unwrap(), serde_json::from_str::<Value>(&object).unwrap());
}

#[test]
fn other_objects_have_to_be_decoded() {
    let complete = text(V2, "{}");
    assert!(of_text(&complete, V1).is_some());
    for (from, to) in [
        (r#""uid": "u""#, r#""uid": """#),
        (r#""uid": "u""#, r#""uid": "u", "uid": "v""#),
        (r#""labels""#, r#""\u006cabels""#),
        (r#""kind": "Widget""#, r#""kind": "Gadget""#),
        (V2, "example.com/v9"),
    ] {
        assert!(complete.contains(from), "{from}");
        assert_eq!(of_text(&complete.replace(from, to), V1), None, "{to}");
    }
    for text in ["[]", "1", r#"{"apiVersion": "example.com/v2", "kind": "Widget", "metadata": null}"#] {
        assert_eq!(of_text(text, V1), None, "{text}");
    }
}
