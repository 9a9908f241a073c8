//! A property test of safe changes: objects that the old schema accepts are accepted by the new one, and nothing is
//! pruned.

use serde_json::{Map, Value, json};

use super::{Class, compare};
use crate::{definition, field::FieldError, value};

/// A pseudo-random number generator (SplitMix64), so that a failure is reproducible by its seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (sides as u64)).unwrap()
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const TEXTS: [&str; 5] = ["", "x", "xy", "xyz", "longer"];

/// Returns the keywords of a type, with sample values.
fn keywords(type_name: &str) -> Vec<(&'static str, Vec<Value>)> {
    let mut keywords = match type_name {
        "string" => vec![
            ("minLength", vec![json!(0), json!(1), json!(2)]),
            ("maxLength", vec![json!(1), json!(3), json!(9)]),
            ("enum", vec![json!(["x", "xy"]), json!(["x", "xy", "longer"]), json!([""])]),
            ("pattern", vec![json!("^x"), json!("y")]),
            ("format", vec![json!("date"), json!("colour")]),
            ("default", vec![json!("x"), json!("longer")]),
        ],
        "integer" => vec![
            ("minimum", vec![json!(0), json!(1), json!(2)]),
            ("exclusiveMinimum", vec![json!(true)]),
            ("maximum", vec![json!(1), json!(4)]),
            ("exclusiveMaximum", vec![json!(true)]),
            ("multipleOf", vec![json!(2), json!(4)]),
            ("format", vec![json!("int32"), json!("int64")]),
            ("default", vec![json!(1), json!(4)]),
        ],
        "array" => vec![
            ("minItems", vec![json!(1), json!(2)]),
            ("maxItems", vec![json!(1), json!(3)]),
            ("x-kubernetes-list-type", vec![json!("set"), json!("atomic")]),
        ],
        _ => vec![
            ("minProperties", vec![json!(1)]),
            ("maxProperties", vec![json!(2), json!(3)]),
            ("required", vec![json!(["a"]), json!(["a", "b"]), json!(["c"])]),
            ("x-kubernetes-preserve-unknown-fields", vec![json!(true)]),
            ("oneOf", vec![json!([{"required": ["a"]}, {"required": ["b"]}])]),
            ("anyOf", vec![json!([{"required": ["a"]}]), json!([{"required": ["a"]}, {"required": ["b"]}])]),
            ("not", vec![json!({"required": ["c"]})]),
        ],
    };
    keywords.push(("nullable", vec![json!(true)]));
    keywords
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    let types = ["string", "integer", "array", "map", "object"];
    let type_name = *rng.pick(if depth == 0 { &types[..2] } else { &types });
    let mut schema =
        Map::from_iter([("type".to_owned(), json!(if type_name == "map" { "object" } else { type_name }))]);
    match type_name {
        "array" => {
            schema.insert("items".to_owned(), self::schema(rng, depth - 1));
        }
        "map" => {
            let values = if rng.one_in(5) { json!(true) } else { self::schema(rng, depth - 1) };
            schema.insert("additionalProperties".to_owned(), values);
        }
        "object" => {
            let mut properties = Map::new();
            for name in NAMES {
                if !rng.one_in(3) {
                    properties.insert(name.to_owned(), self::schema(rng, depth - 1));
                }
            }
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        _ => {}
    }
    for (name, values) in keywords(type_name) {
        if rng.one_in(6) {
            schema.insert(name.to_owned(), rng.pick(&values).clone());
        }
    }
    Value::Object(schema)
}

/// Changes random parts of a schema.
fn edit(schema: &mut Value, rng: &mut Rng, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    let type_name = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if rng.one_in(3) {
        let keywords = keywords(&type_name);
        let (name, values) = rng.pick(&keywords);
        match rng.one_in(2) {
            true => fields.remove(*name),
            false => fields.insert((*name).to_owned(), rng.pick(values).clone()),
        };
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        if rng.one_in(4) {
            properties.insert((*rng.pick(&NAMES)).to_owned(), self::schema(rng, depth.saturating_sub(1)));
        }
        if rng.one_in(12) {
            properties.remove(*rng.pick(&NAMES));
        }
        properties.values_mut().for_each(|field| edit(field, rng, depth.saturating_sub(1)));
    }
    if fields.contains_key("additionalProperties") && rng.one_in(12) {
        fields.insert("additionalProperties".to_owned(), json!(true));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(name) {
            edit(inner, rng, depth.saturating_sub(1));
        }
    }
}

/// Returns a random value that often matches the schema.
fn value(schema: &Value, rng: &mut Rng) -> Value {
    if rng.one_in(15) {
        return Value::Null;
    }
    match schema["type"].as_str() {
        Some("string") => json!(rng.pick(&TEXTS)),
        Some("integer") => json!(rng.below(6)),
        Some("array") => (0..rng.below(4)).map(|_| value(&schema["items"], rng)).collect(),
        _ => {
            let mut fields = Map::new();
            for name in NAMES {
                let field = schema["properties"].get(name).or(schema.get("additionalProperties"));
                if !rng.one_in(3) {
                    fields.insert(name.to_owned(), field.map_or(json!("unknown"), |field| value(field, rng)));
                }
            }
            Value::Object(fields)
        }
    }
}

/// Returns the stored object, if the server accepts it.
fn stored(object: &Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
    let mut object = object.clone();
    value::prune(&mut object, schema);
    value::prune_nulls(&mut object, schema);
    value::default(&mut object, schema);
    let is_valid =
        value::validate(&object, schema).is_empty() && value::validate_list_sets_and_maps(&object, schema).is_empty();
    is_valid.then_some(object)
}

fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
}

fn is_invalid(definition: &Value) -> bool {
    definition::validate(definition).iter().any(FieldError::is_error)
}

/// Whether a map value has a default, which the server does not validate.
fn has_unvalidated_default(schema: &Value, in_map: bool) -> bool {
    let below = |name: &str, in_map| schema.get(name).is_some_and(|inner| has_unvalidated_default(inner, in_map));
    let fields = schema["properties"].as_object().into_iter().flatten();
    in_map && schema.get("default").is_some()
        || fields.map(|(_, field)| field).any(|field| has_unvalidated_default(field, in_map))
        || below("items", in_map)
        || below("additionalProperties", true)
}

#[test]
fn valid_objects_are_unchanged_by_safe_changes() {
    let (mut safe, mut compared) = (0, 0);
    for seed in 0..15_000 {
        let rng = &mut Rng(seed);
        let old = json!({"type": "object", "properties": {"a": schema(rng, 2), "b": schema(rng, 1)}});
        let mut new = old.clone();
        edit(&mut new, rng, 2);
        let (old_definition, new_definition) = (crd(&old), crd(&new));
        assert_eq!(compare(&old_definition, &old_definition), []);
        let changes = compare(&old_definition, &new_definition);
        let is_safe = !changes.is_empty() && changes.iter().all(|change| change.class == Class::Safe);
        if !is_safe
            || has_unvalidated_default(&new, false)
            || is_invalid(&old_definition)
            || is_invalid(&new_definition)
        {
            continue;
        }
        safe += 1;
        for _ in 0..4 {
            let Value::Object(object) = value(&old, rng) else { continue };
            let Some(before) = stored(&object, &old) else { continue };
            compared += 1;
            let after = stored(&before, &new);
            assert!(
                after
                    .as_ref()
                    .is_some_and(|after| contains(&Value::Object(after.clone()), &Value::Object(before.clone()))),
                "seed {seed}: {} is {after:?} after {changes:#?}\n{old}\n{new}",
                Value::Object(before),
            );
        }
    }
    assert!(safe > 1_000 && compared > 1_000, "{safe} pairs of schemas, {compared} objects");
}

/// Whether a value contains all fields of another.
fn contains(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Object(value), Value::Object(other)) => {
            other.iter().all(|(name, other)| value.get(name).is_some_and(|value| contains(value, other)))
        }
        (Value::Array(value), Value::Array(other)) => {
            value.len() == other.len() && value.iter().zip(other).all(|(value, other)| contains(value, other))
        }
        (value, other) => value == other,
    }
}
