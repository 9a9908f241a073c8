//! What is called safe is: values that are taken under the old schema are taken under the new one.

use serde_json::{Map, Value, json};

use super::{Class, definitions};
use crate::{check, value};

/// A generator of pseudo-random numbers (SplitMix64), so that a failure can be run again by its seed.
struct Dice(u64);

impl Dice {
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

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const TEXTS: [&str; 5] = ["", "x", "xy", "xyz", "longer"];

/// Keywords that a schema of a type may have, each with some values.
fn keywords(of: &str) -> Vec<(&'static str, Vec<Value>)> {
    let mut keywords = match of {
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

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let types = ["string", "integer", "array", "map", "object"];
    let of = *dice.pick(if depth == 0 { &types[..2] } else { &types });
    let mut schema = Map::from_iter([("type".to_owned(), json!(if of == "map" { "object" } else { of }))]);
    match of {
        "array" => {
            schema.insert("items".to_owned(), self::schema(dice, depth - 1));
        }
        "map" => {
            let values = if dice.one_in(5) { json!(true) } else { self::schema(dice, depth - 1) };
            schema.insert("additionalProperties".to_owned(), values);
        }
        "object" => {
            let mut properties = Map::new();
            for name in NAMES {
                if !dice.one_in(3) {
                    properties.insert(name.to_owned(), self::schema(dice, depth - 1));
                }
            }
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        _ => {}
    }
    for (name, values) in keywords(of) {
        if dice.one_in(6) {
            schema.insert(name.to_owned(), dice.pick(&values).clone());
        }
    }
    Value::Object(schema)
}

/// Changes a schema here and there.
fn edit(schema: &mut Value, dice: &mut Dice, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    let of = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if dice.one_in(3) {
        let keywords = keywords(&of);
        let (name, values) = dice.pick(&keywords);
        match dice.one_in(2) {
            true => fields.remove(*name),
            false => fields.insert((*name).to_owned(), dice.pick(values).clone()),
        };
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        if dice.one_in(4) {
            properties.insert((*dice.pick(&NAMES)).to_owned(), self::schema(dice, depth.saturating_sub(1)));
        }
        if dice.one_in(12) {
            properties.remove(*dice.pick(&NAMES));
        }
        properties.values_mut().for_each(|field| edit(field, dice, depth.saturating_sub(1)));
    }
    if fields.contains_key("additionalProperties") && dice.one_in(12) {
        fields.insert("additionalProperties".to_owned(), json!(true));
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(name) {
            edit(inner, dice, depth.saturating_sub(1));
        }
    }
}

/// A value that may well be one of the schema's.
fn value(schema: &Value, dice: &mut Dice) -> Value {
    if dice.one_in(15) {
        return Value::Null;
    }
    match schema["type"].as_str() {
        Some("string") => json!(dice.pick(&TEXTS)),
        Some("integer") => json!(dice.below(6)),
        Some("array") => (0..dice.below(4)).map(|_| value(&schema["items"], dice)).collect(),
        _ => {
            let mut fields = Map::new();
            for name in NAMES {
                let field = schema["properties"].get(name).or(schema.get("additionalProperties"));
                if !dice.one_in(3) {
                    fields.insert(name.to_owned(), field.map_or(json!("unknown"), |field| value(field, dice)));
                }
            }
            Value::Object(fields)
        }
    }
}

/// What the server keeps of an object, if it takes it.
fn taken(object: &Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
    let mut object = object.clone();
    value::prune(&mut object, schema);
    value::drop_nulls(&mut object, schema);
    value::default(&mut object, schema);
    let is_taken = value::validate(&object, schema).is_empty() && value::duplicates(&object, schema).is_empty();
    is_taken.then_some(object)
}

fn definition(schema: &Value) -> Value {
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

fn is_refused(definition: &Value) -> bool {
    check::definition(definition).iter().any(check::Finding::is_refusal)
}

/// Whether a default stands below the values of a map, where the server does not check it.
fn has_unchecked_default(schema: &Value, in_map: bool) -> bool {
    let below = |name: &str, in_map| schema.get(name).is_some_and(|inner| has_unchecked_default(inner, in_map));
    let fields = schema["properties"].as_object().into_iter().flatten();
    in_map && schema.get("default").is_some()
        || fields.map(|(_, field)| field).any(|field| has_unchecked_default(field, in_map))
        || below("items", in_map)
        || below("additionalProperties", true)
}

#[test]
fn what_was_taken_is_taken_after_safe_changes_and_nothing_of_it_is_lost() {
    let (mut safe, mut compared) = (0, 0);
    for seed in 0..15_000 {
        let dice = &mut Dice(seed);
        let old = json!({"type": "object", "properties": {"a": schema(dice, 2), "b": schema(dice, 1)}});
        let mut new = old.clone();
        edit(&mut new, dice, 2);
        let (old_definition, new_definition) = (definition(&old), definition(&new));
        assert_eq!(definitions(&old_definition, &old_definition), []);
        let changes = definitions(&old_definition, &new_definition);
        let is_safe = !changes.is_empty() && changes.iter().all(|change| change.class == Class::Safe);
        if !is_safe || has_unchecked_default(&new, false) || is_refused(&old_definition) || is_refused(&new_definition)
        {
            continue;
        }
        safe += 1;
        for _ in 0..4 {
            let Value::Object(object) = value(&old, dice) else { continue };
            let Some(kept) = taken(&object, &old) else { continue };
            compared += 1;
            let now = taken(&kept, &new);
            assert!(
                now.as_ref().is_some_and(|now| holds(&Value::Object(now.clone()), &Value::Object(kept.clone()))),
                "seed {seed}: {} is {now:?} after {changes:#?}\n{old}\n{new}",
                Value::Object(kept),
            );
        }
    }
    assert!(safe > 1_000 && compared > 1_000, "{safe} pairs of schemas, {compared} objects");
}

/// Whether a value has all that another has.
fn holds(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Object(value), Value::Object(other)) => {
            other.iter().all(|(name, other)| value.get(name).is_some_and(|value| holds(value, other)))
        }
        (Value::Array(value), Value::Array(other)) => {
            value.len() == other.len() && value.iter().zip(other).all(|(value, other)| holds(value, other))
        }
        (value, other) => value == other,
    }
}
