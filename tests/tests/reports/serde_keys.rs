//! The attributes of serde, compared with what serde_json makes of them.

use std::fmt::Debug;

use kubewright_core::{schemars::JsonSchema, wire::OmitNone};
use kubewright_crd::{
    structural::{self, Options},
    validator::Validator,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json, to_value};

use crate::{client::applyconfigurations::serde_v1, types::serde_keys::*};

/// The schema of a type, as that of the field `value` of an object.
struct Schema(Validator);

impl Schema {
    fn new<T: JsonSchema>() -> Self {
        let schema = structural::generate(T::json_schema, &Options::default()).unwrap().schema;
        Schema(Validator::new(json!({"type": "object", "properties": {"value": schema}})).unwrap())
    }

    fn accepts(&self, value: &Value) -> bool {
        self.0.validate(json!({"value": value}).as_object().unwrap(), None).is_empty()
    }

    /// Returns what the API server stores.
    fn stored(&self, value: &Value) -> Value {
        let mut object = json!({"value": value}).as_object().unwrap().clone();
        self.0.prune_and_default(&mut object).unwrap();
        object.remove("value").unwrap()
    }
}

/// Whether a value has all fields of another one: the API server adds defaults.
fn contains(stored: &Value, json: &Value) -> bool {
    match (stored, json) {
        (Value::Object(stored), Value::Object(json)) => {
            json.iter().all(|(name, value)| stored.get(name).is_some_and(|stored| contains(stored, value)))
        }
        (stored, json) => stored == json,
    }
}

/// Asserts that the API server stores every field of these values, and that they are decoded from what it stores.
fn check<T: Clone + Debug + DeserializeOwned + JsonSchema + PartialEq + Serialize>(values: &[T]) {
    let schema = Schema::new::<T>();
    for value in values {
        let json = to_value(OmitNone(value)).unwrap();
        assert!(schema.accepts(&json), "{json}: {}", schema.0.schema());
        let stored = schema.stored(&json);
        assert!(contains(&stored, &json), "{stored} instead of {json}");
        let decoded: T = serde_json::from_value(json).unwrap();
        assert_eq!(serde_json::from_value::<T>(stored).unwrap(), decoded);
    }
}

/// Asserts that the schema and decoding accept these values, with the same result before and after defaulting.
fn check_decoded<T: Debug + DeserializeOwned + JsonSchema + PartialEq>(values: &[Value]) {
    let schema = Schema::new::<T>();
    for json in values {
        assert!(schema.accepts(json), "{json}: {}", schema.0.schema());
        let decoded: T = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::from_value::<T>(schema.stored(json)).unwrap(), decoded, "{json}");
    }
}

/// Asserts that neither the schema nor decoding accepts these values.
fn check_rejected<T: Debug + DeserializeOwned + JsonSchema>(values: &[Value]) {
    let schema = Schema::new::<T>();
    for json in values {
        assert!(!schema.accepts(json), "{json}: {}", schema.0.schema());
        assert!(serde_json::from_value::<T>(json.clone()).is_err(), "{json}");
    }
}

fn dial() -> DialSpec {
    DialSpec {
        max_speed: 1,
        unit_name: "km".to_owned(),
        marks: vec![1],
        step_size: 3,
        label: Some("a".to_owned()),
        renamed_by_condition: Some(4),
        cached: 0,
        read_only: 10,
        write_only: 0,
        skipped_twice: 0,
        level: Level::High,
        settings: Some(Settings { fifth_value: 1, ..Settings::default() }),
    }
}

#[test]
fn names_defaults_and_presence_of_fields() {
    check(&[dial(), DialSpec { label: None, step_size: 10, settings: None, level: Level::VeryLow, ..dial() }]);
    let least = json!({"maxSpeed": 1, "Unit": "km", "level": "high"});
    check_decoded::<DialSpec>(&[least.clone(), json!({"maxSpeed": 1, "Unit": "km", "level": "High", "readOnly": 3})]);
    let stored = Schema::new::<DialSpec>().stored(&least);
    assert_eq!(
        stored,
        json!({"maxSpeed": 1, "Unit": "km", "level": "high", "marks": [], "stepSize": 10, "readOnly": 10, "writeOnly": 0})
    );
    check_rejected::<DialSpec>(&[
        json!({"Unit": "km", "level": "HIGH"}),
        json!({"maxSpeed": 1, "level": "HIGH"}),
        json!({"maxSpeed": 1, "Unit": "km", "level": "unknown"}),
    ]);
}

#[test]
fn defaults_of_a_type() {
    check(&[Settings::default()]);
    assert!(!Schema::new::<Settings>().accepts(&json!({})), "`required`");
    let value = json!({"FIFTH-VALUE": 1});
    check_decoded::<Settings>(std::slice::from_ref(&value));
    let stored = Schema::new::<Settings>().stored(&value);
    let all = json!({
        "FIRST-VALUE": 7, "SECOND-VALUE": 0, "THIRD-VALUE": ["a"], "FOURTH-VALUE": true, "FIFTH-VALUE": 1,
    });
    assert_eq!(stored, all);
}

#[test]
fn types_of_one_name() {
    check(&[Pair { left: Left { a: 1 }, right: Right { b: 2 } }]);
    check(&[Sides { named: Named { c: 1 }, also: AlsoNamed { d: 2 } }]);
}

#[test]
fn encodings_of_variants() {
    check(&[
        External::ByName { full_name: "a".to_owned() },
        External::BySize { max_size: 1, min_size: Some(1) },
        External::ByLevel(Level::High),
    ]);
    check_decoded::<External>(&[json!({"bySize": {"MaxSize": 2}}), json!({"byLevel": "high"})]);
    check_rejected::<External>(&[
        json!({"bySize": {"maxSize": 2}}),
        json!({"size": {"MaxSize": 1}, "bySize": {"MaxSize": 1}}),
    ]);
    check(&[Internal::Open, Internal::Closed { reason: "a".to_owned() }]);
    check_decoded::<Internal>(&[json!({"type": "shut", "reason": "a"}), json!({"type": "ajar", "angle": 1})]);
    check_rejected::<Internal>(&[json!({"type": "shut"}), json!({"type": "Open"}), json!({"type": "ajar"})]);
    check(&[Adjacent::Text("a".to_owned()), Adjacent::Name("b".to_owned()), Adjacent::Nothing]);
    check_decoded::<Adjacent>(&[json!({"kind": "Word", "value": "a"})]);
    check_rejected::<Adjacent>(&[json!({"kind": "Word"}), json!({"kind": "word", "value": "a"})]);
    check(&[Untagged::Point { x: 1 }, Untagged::Line { from: 1, to: 2 }]);
    check_rejected::<Untagged>(&[json!({"from": 1}), json!({})]);
}

#[test]
fn variants_for_everything_else() {
    check(&[Word::Yes, Word::Other("a".to_owned())]);
    check(&[Open::Known { size: 1 }, Open::Other { weight: 1 }]);
    check_rejected::<Open>(&[json!({"type": "Known"})]);
    // `other` is for objects of later versions: this one has no other variants.
    check(&[Fallback::Known { size: 1 }, Fallback::Other]);
    assert!(!Schema::new::<Fallback>().accepts(&json!({"type": "Unknown"})));
}

#[test]
fn encodings_of_other_types() {
    check(&[Transparent { inner: Level::High }]);
    check(&[Ratio(1, 2)]);
    check(&[Code { first_part: 1 }]);
    check_rejected::<Ratio>(&[json!({"numerator": 1})]);
    check_rejected::<Code>(&[json!({"firstPart": 1})]);
    let encodings =
        Encodings { foreign: Foreign::new(1, 2), number: 3, two_functions: 4, any: 5, variant: Encoded::Number(6) };
    check(&[encodings]);
    let least = json!({"foreign": {"AMOUNT": 1, "HIDDEN": 2}, "number": "3", "variant": {"Number": "6"}});
    check_decoded::<Encodings>(std::slice::from_ref(&least));
    assert_eq!(Schema::new::<Encodings>().stored(&least)["two_functions"], "10");
}

#[test]
fn flattened_types() {
    let flattened = Flattened {
        own_name: "a".to_owned(),
        fraction: Fraction { numerator: 1, denominator: 2 },
        choice: Some(External::BySize { max_size: 1, min_size: None }),
        rest: [("extra".to_owned(), json!({"a": 1}))].into(),
    };
    check(&[flattened]);
}

#[test]
fn apply_configurations_have_the_keys_of_the_type() {
    let dial = dial();
    let settings = dial.settings.clone().unwrap();
    let applied = serde_v1::DialSpecApply::new()
        .with_max_speed(dial.max_speed)
        .with_unit_name(dial.unit_name.clone())
        .with_marks(dial.marks.clone())
        .with_step_size(dial.step_size)
        .with_label("a")
        .with_renamed_by_condition(4)
        .with_write_only(dial.write_only)
        .with_level(dial.level.clone())
        .with_settings(
            serde_v1::SettingsApply::new()
                .with_first_value(settings.first_value)
                .with_second_value(settings.second_value)
                .with_third_value(settings.third_value.clone())
                .with_fifth_value(settings.fifth_value),
        );
    assert_eq!(to_value(applied).unwrap(), to_value(OmitNone(&dial)).unwrap());
}
