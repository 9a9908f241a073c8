//! Which defaults Rust can express: those that are the same after decoding and encoding.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    model::{Body, Field, Item, Type, Types},
    normalize,
};

/// Removes defaults that Rust cannot express, and determines the fields that other defaults omit.
pub(super) fn remove_inexpressible(types: &mut Types) {
    loop {
        types.omitted = omitted_fields(&types.items);
        let is_inexpressible =
            |field: &Field| field.default.as_ref().is_some_and(|default| !is_expressible(default, &field.ty, types));
        let mut removed = Vec::new();
        for (i, item) in types.items.iter().enumerate() {
            let fields = item.body.fields().iter().enumerate();
            removed.extend(fields.filter(|(_, field)| is_inexpressible(field)).map(|(index, _)| (i, index)));
        }
        for (item, field) in &removed {
            types.items[*item].body.fields_mut()[*field].default = None;
        }
        if removed.is_empty() {
            return;
        }
    }
}

fn is_expressible(default: &Value, ty: &Type, types: &Types) -> bool {
    let Some(mut encoded) = round_trip(default, ty, types) else { return false };
    let mut default = default.clone();
    normalize::numbers(&mut encoded);
    normalize::numbers(&mut default);
    encoded == default
}

/// Returns the value after decoding it as a type and encoding it again; `None` if Rust cannot express it.
pub(super) fn round_trip(value: &Value, ty: &Type, types: &Types) -> Option<Value> {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::String, Value::String(_)) => Some(value.clone()),
        (Type::Integer("i32"), Value::Number(number)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()).then(|| value.clone())
        }
        (Type::Integer(_), Value::Number(number)) => number.is_i64().then(|| value.clone()),
        (Type::Float("f32"), Value::Number(number)) => Some(json!(number.as_f64()? as f32)),
        (Type::Float(_), Value::Number(number)) => Some(json!(number.as_f64()?)),
        (Type::List(ty), Value::Array(values)) => values.iter().map(|value| round_trip(value, ty, types)).collect(),
        (Type::Map(ty), Value::Object(values)) => {
            let pairs = values.iter().map(|(key, value)| Some((key.clone(), round_trip(value, ty, types)?)));
            pairs.collect::<Option<Map<String, Value>>>().map(Value::Object)
        }
        (Type::Json, value) => Some(value.clone()),
        (Type::Kubernetes(known), value) => (known.round_trip)(value),
        (Type::Local(item), value) => round_trip_item(value, *item, types),
        _ => None,
    }
}

fn round_trip_item(value: &Value, item: usize, types: &Types) -> Option<Value> {
    match (&types.items[item].body, value) {
        (Body::Newtype(ty), value) => round_trip(value, ty, types),
        (Body::StringEnum(words), Value::String(word)) => words.contains(word).then(|| value.clone()),
        (Body::Struct { fields, .. }, Value::Object(values)) => {
            let is_known = |key: &String| fields.iter().any(|field| field.json == *key);
            if !values.keys().all(is_known) {
                return None;
            }
            let mut encoded = Map::new();
            for field in fields {
                match values.get(&field.json) {
                    Some(value) => drop(encoded.insert(field.json.clone(), round_trip(value, &field.ty, types)?)),
                    None if types.is_optional(item, field) => {}
                    None => return None,
                }
            }
            Some(Value::Object(encoded))
        }
        (Body::Union(variants), Value::Object(values)) => {
            let mut present = variants.iter().filter_map(|variant| Some((variant, values.get(&variant.json)?)));
            let (variant, value) = present.next().filter(|_| values.len() == 1)?;
            Some(json!({&variant.json: round_trip(value, &variant.ty, types)?}))
        }
        _ => None,
    }
}

/// Returns the fields with a default that the default of an enclosing field omits.
fn omitted_fields(items: &[Item]) -> BTreeSet<(usize, String)> {
    let mut found = BTreeSet::new();
    for field in items.iter().flat_map(|item| item.body.fields()) {
        if let Some(default) = &field.default {
            visit(default, &field.ty, items, &mut found);
        }
    }
    found
}

fn visit(value: &Value, ty: &Type, items: &[Item], found: &mut BTreeSet<(usize, String)>) {
    match (ty, value) {
        (Type::List(ty), Value::Array(values)) => values.iter().for_each(|value| visit(value, ty, items, found)),
        (Type::Map(ty), Value::Object(values)) => values.values().for_each(|value| visit(value, ty, items, found)),
        (Type::Local(item), value) => match &items[*item].body {
            Body::Newtype(ty) => visit(value, ty, items, found),
            body => {
                for field in body.fields() {
                    match value.get(&field.json) {
                        Some(value) => visit(value, &field.ty, items, found),
                        None => drop(found.insert((*item, field.json.clone()))),
                    }
                }
            }
        },
        _ => {}
    }
}
