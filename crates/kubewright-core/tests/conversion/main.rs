//! Conversions between the versions of a kind, from declaration to JSON and Rust values.

#![allow(dead_code, unreachable_pub, reason = "the types of an API are public")]
#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

mod edits;
mod fields;
mod partial;
mod properties;
mod text;
mod typed;
mod v1;
mod v1alpha1;
mod v2;
mod variants;

use kubewright_core::conversion::Converter;
use serde_json::{Value, json};

const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";
const V1ALPHA1: &str = "example.com/v1alpha1";

fn converter() -> Converter {
    Converter::hub::<v2::Widget>().spoke::<v1::Widget>().spoke::<v1alpha1::Widget>().build()
}

/// Converts an object. The conversion of its text has the same result.
fn convert(object: &Value, version: &str) -> Value {
    let converted = converter().convert(object.clone(), version).unwrap();
    let text = serde_json::value::to_raw_value(object).unwrap();
    if let Some(of_text) = converter().convert_text(&text, version) {
        assert_eq!(serde_json::to_value(&of_text).unwrap(), converted);
    }
    converted
}

/// Returns a complete object, as the server stores it.
fn widget(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": version,
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "default", "uid": "2f0b5a5e-7c30-4d0a-a2f5-5c6c2c2a7d10"},
        "spec": spec,
    })
}

/// Returns the object without its annotations.
fn without_annotations(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"].as_object_mut().unwrap().remove("annotations");
    object
}

/// Returns a minimal spec of the hub, with these fields.
fn hub_spec(fields: Value) -> Value {
    let mut spec =
        json!({"name": "n", "interval": "30s", "replicas": 1, "mode": "Memory", "shape": {"Square": {"side": 2}}});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    spec
}

/// Returns a minimal spec of `v1`, with these fields.
fn spoke_spec(fields: Value) -> Value {
    let mut spec = json!({"name": "n", "timeInterval": 30, "mode": "Memory", "shape": {"square": {"width": 2}}});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    spec
}
