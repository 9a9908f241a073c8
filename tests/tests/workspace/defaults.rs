//! `#[defaults]` in decoding, in schemas and in `Default`, and `defaulted`.

use std::collections::BTreeMap;

use fixture_types::defaults_v1::{Format, Preset, PresetSpec, Retry, Sink};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_core::{DeepCopy, defaults::defaulted};
use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json, to_value};

fn decoded(spec: Value) -> PresetSpec {
    from_value(spec).unwrap()
}

#[test]
fn decoding_applies_every_syntax_of_default() {
    let spec = decoded(json!({}));
    assert_eq!((spec.level.as_str(), spec.rotation.as_deref(), spec.suffix.as_str()), ("info", Some("daily"), ""));
    assert_eq!((spec.time_interval, spec.priority, spec.retries), (30, Some(-5), Some(0)));
    assert_eq!((spec.ratio, spec.enabled, spec.compress), (0.5, true, false));
    assert_eq!((spec.replicas, spec.format), (7, Format::Json));
    assert_eq!(spec.port, Some(IntOrString::String("http".into())));
    assert_eq!(spec.outputs, ["stdout", "file"]);
    assert_eq!(spec.labels, BTreeMap::from([("tier".into(), "audit".into())]));
    assert_eq!((spec.fallback, spec.sinks), (None, vec![]));
}

#[test]
fn set_fields_are_not_defaulted() {
    let given =
        json!({"level": "", "rotation": "hourly", "timeInterval": 1, "enabled": false, "outputs": [], "labels": {}});
    let written = to_value(decoded(given.clone())).unwrap();
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(&written[name], value);
    }
}

#[test]
fn a_struct_field_has_a_default_and_so_have_its_fields() {
    let retry = Retry { attempts: 3 };
    let disk = Sink { target: "disk".into(), buffer_size: Some(1024), format: None, retry };
    assert_eq!(decoded(json!({})).sink, disk);
    assert_eq!(decoded(json!({"sink": {}})).sink, Sink { target: "stdout".into(), ..disk });
}

#[test]
fn list_items_and_map_values_have_the_defaults_of_their_fields() {
    let spec = decoded(json!({"sinks": [{}, {"target": "file"}], "namedSinks": {"a": {"retry": {}}}}));
    assert_eq!(spec.sinks, [Sink::default(), Sink { target: "file".into(), ..Sink::default() }]);
    assert_eq!(spec.named_sinks, BTreeMap::from([("a".into(), Sink::default())]));
    assert_eq!(Sink::default().buffer_size, Some(1024));
}

#[test]
fn an_absent_struct_without_a_default_stays_absent() {
    assert_eq!(decoded(json!({})).fallback, None);
    assert_eq!(decoded(json!({"fallback": {}})).fallback, Some(Sink::default()));
}

#[test]
fn default_equals_the_decoded_empty_object() {
    assert_eq!(PresetSpec::default(), decoded(json!({})));
    assert_eq!(Preset::default(), from_value(json!({})).unwrap());
    assert_eq!(Preset::default().spec.sink.target, "disk");
}

#[test]
fn the_schema_has_defaults_and_does_not_require_their_fields() {
    let schema = schema_for!(PresetSpec).to_value();
    assert_eq!(schema.get("required"), None);
    for (name, value) in to_value(PresetSpec::default()).unwrap().as_object().unwrap() {
        assert_eq!(schema["properties"][name].get("default"), Some(value).filter(|_| name != "fallback"), "{name}");
    }
}

#[test]
fn defaulted_applies_defaults_at_any_depth() {
    let unset = Sink { target: "file".into(), buffer_size: None, format: None, retry: Retry { attempts: 0 } };
    let mut built = PresetSpec { rotation: None, priority: None, port: None, ..PresetSpec::default() };
    built.sinks = vec![unset.clone()];
    built.named_sinks = BTreeMap::from([("a".into(), unset.clone())]);
    let set = Sink { buffer_size: Some(1024), ..unset };
    let expected = PresetSpec {
        sinks: vec![set.clone()],
        named_sinks: BTreeMap::from([("a".into(), set)]),
        ..PresetSpec::default()
    };
    assert_eq!(defaulted(&built).unwrap(), expected);
}

#[test]
fn defaulted_reports_values_that_cannot_be_encoded_or_decoded() {
    let unwritable = BTreeMap::from([(vec![1], 1)]);
    assert_eq!(defaulted(&unwritable).unwrap_err().to_string(), "key must be a string");
    #[derive(Deserialize, Serialize)]
    struct Unreadable {
        needed: Option<i32>,
        #[serde(rename(serialize = "to", deserialize = "from"))]
        other: i32,
    }
    let unreadable = Unreadable { needed: None, other: 1 };
    assert_eq!(defaulted(&unreadable).err().unwrap().to_string(), "missing field `from`");
    assert_eq!((unreadable.needed, unreadable.other), (None, 1));
}

#[test]
fn generic_types_have_defaults_in_decoding_schema_and_default() {
    fn least<T: From<u8>>() -> T {
        T::from(1)
    }
    #[kubewright_core::defaults]
    #[derive(Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
    struct Range<T: From<u8>, const N: usize> {
        #[default(with = least)]
        least: T,
        #[default(N)]
        steps: Option<usize>,
        most: Option<T>,
    }
    let expected = Range::<i64, 7> { least: 1, steps: Some(7), most: None };
    assert_eq!(Range::default(), expected);
    assert_eq!(from_value::<Range<i64, 7>>(json!({})).unwrap(), expected);
    let schema = schema_for!(Range<i64, 7>).to_value();
    assert_eq!(
        (&schema["properties"]["least"]["default"], &schema["properties"]["steps"]["default"]),
        (&json!(1), &json!(7))
    );
}

#[test]
fn fields_of_variants_have_defaults() {
    #[kubewright_core::defaults]
    #[derive(Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
    enum Shape {
        #[default]
        Round,
        Square {
            #[default(4)]
            size: i32,
        },
        Other {
            #[default("blob")]
            size: Option<String>,
            r#type: Option<i32>,
        },
    }
    assert_eq!(Shape::default(), Shape::Round);
    assert_eq!(from_value::<Shape>(json!({"Square": {}})).unwrap(), Shape::Square { size: 4 });
    let other = Shape::Other { size: None, r#type: None };
    assert_eq!(defaulted(&other).unwrap(), Shape::Other { size: Some("blob".into()), r#type: None });
}

#[test]
fn fields_that_are_not_compiled_have_no_default() {
    #[kubewright_core::defaults]
    #[cfg_attr(test, derive(Debug, Default, PartialEq, Deserialize))]
    struct Spec {
        #[cfg(not(test))]
        #[default(nowhere)]
        gone: i32,
        #[cfg(test)]
        #[default(2)]
        there: i32,
    }
    assert_eq!((Spec::default(), from_value(json!({})).unwrap()), (Spec { there: 2 }, Spec { there: 2 }));
}

prop_compose! {
    fn sink()(
        target in ".{0,3}",
        buffer_size in any::<Option<u32>>(),
        text in any::<Option<bool>>(),
        attempts in any::<i32>(),
    ) -> Sink {
        let format = text.map(|text| if text { Format::Text } else { Format::Json });
        Sink { target, buffer_size, format, retry: Retry { attempts } }
    }
}

prop_compose! {
    fn spec()(
        level in ".{0,3}",
        rotation in proptest::option::of(".{0,3}"),
        (time_interval, priority, retries) in any::<(i32, Option<i64>, Option<u8>)>(),
        ratio in -1e9..1e9_f64,
        (enabled, compress) in any::<(bool, bool)>(),
        port in any::<Option<i32>>(),
        outputs in proptest::collection::vec(".{0,3}", 0..3),
        labels in proptest::collection::btree_map(".{0,3}", ".{0,3}", 0..3),
        sink in sink(),
        fallback in proptest::option::of(sink()),
        sinks in proptest::collection::vec(sink(), 0..3),
        named_sinks in proptest::collection::btree_map(".{0,3}", sink(), 0..3),
    ) -> PresetSpec {
        PresetSpec {
            level, rotation, time_interval, priority, ratio, enabled, retries, compress, outputs, labels, sink,
            fallback, sinks, named_sinks, port: port.map(IntOrString::Int), ..PresetSpec::default()
        }
    }
}

/// Reports whether every set field of `left` is equal in `right`.
fn is_preserved(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, _) => true,
        (Value::Object(left), Value::Object(right)) => {
            left.iter().all(|(name, value)| right.get(name).map_or(value.is_null(), |other| is_preserved(value, other)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_preserved(left, right))
        }
        (left, right) => left == right,
    }
}

proptest! {
    #[test]
    fn defaulting_is_idempotent(spec in spec()) {
        let once = defaulted(&spec).unwrap();
        prop_assert_eq!(defaulted(&once).unwrap(), once.clone());
        prop_assert!(is_preserved(&to_value(&spec).unwrap(), &to_value(&once).unwrap()));
    }

    #[test]
    fn defaulting_equals_a_json_round_trip(spec in spec()) {
        let preset = Preset { spec, ..Preset::default() };
        prop_assert_eq!(defaulted(&preset).unwrap(), from_value(to_value(&preset).unwrap()).unwrap());
    }
}
