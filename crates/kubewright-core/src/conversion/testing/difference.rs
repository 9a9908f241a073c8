//! Compares objects, without what is declared as lost.

use serde_json::{Map, Value};

use crate::conversion::plan::{Conversion, Direction, Enum, Field, Payload, Struct};

/// Removes what the other version does not have and the declaration declares as lost. `direction` is that of the
/// conversion of this object.
pub(super) fn forget_lost(conversion: Conversion, value: &mut Value, direction: Direction) {
    match (conversion, value) {
        (Conversion::Struct(of), Value::Object(object)) => forget_fields(of, object, direction),
        (Conversion::List(item), Value::Array(items)) => {
            items.iter_mut().for_each(|value| forget_lost(item(), value, direction));
        }
        (Conversion::Map(entry), Value::Object(entries)) => {
            entries.values_mut().for_each(|value| forget_lost(entry(), value, direction));
        }
        (Conversion::Enum(of), value) => forget_variants(of, value, direction),
        _ => {}
    }
}

fn forget_fields(of: &Struct, object: &mut Map<String, Value>, direction: Direction) {
    for field in of.fields {
        forget_field(field, object, direction);
    }
    for field in of.hub_only.iter().filter(|field| field.lost.is_some() && direction == Direction::FromHub) {
        object.remove(field.name);
    }
}

fn forget_field(field: &Field, object: &mut Map<String, Value>, direction: Direction) {
    match ((field.conversion)(), field.names(direction).0) {
        (Conversion::Struct(nested), _) if field.flatten => forget_fields(nested, object, direction),
        (_, Some(name)) if field.lost.is_some() => drop(object.remove(name)),
        (conversion, Some(name)) => {
            if let Some(value) = object.get_mut(name) {
                forget_lost(conversion, value, direction);
            }
        }
        (_, None) => {}
    }
}

/// Replaces a variant that can be lost, or that can stand for one, by null.
fn forget_variants(of: &Enum, value: &mut Value, direction: Direction) {
    let lost = of.variants.iter().filter(|variant| variant.lost.is_some() && variant.narrows == Some(direction));
    for variant in lost {
        let (name, target) = direction.order(variant.spoke, variant.hub);
        let stands_for = of
            .variants
            .iter()
            .find(|other| other.narrows.is_none() && direction.order(other.spoke, other.hub).1 == target);
        let names = stands_for.map(|other| direction.order(other.spoke, other.hub).0).into_iter().chain([name]);
        if names.into_iter().any(|name| mentions(value, name)) {
            *value = Value::Null;
            return;
        }
    }
    for variant in of.variants.iter().filter(|variant| variant.narrows.is_none()) {
        let name = direction.order(variant.spoke, variant.hub).0;
        match (variant.payload, value.get_mut(name)) {
            (Payload::Newtype(conversion), Some(content)) => forget_lost(conversion(), content, direction),
            (Payload::Struct(of), Some(Value::Object(content))) => forget_fields(of, content, direction),
            _ => {}
        }
    }
}

/// Whether the value is a variant with this name, in any encoding.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Object(object) => object.contains_key(name) || object.values().any(|value| value == name),
        _ => false,
    }
}

/// Returns the first path at which two values differ, with both values; equal numbers can be in different notations.
pub(super) fn first_difference(one: &Value, other: &Value) -> Option<String> {
    difference(one, other, "")
}

fn difference(one: &Value, other: &Value, path: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let in_one = one.iter().find_map(|(name, value)| {
                let path = format!("{path}.{name}");
                match other.get(name) {
                    Some(other) => difference(value, other, &path),
                    None => Some(format!("{path}: {value}, then absent")),
                }
            });
            let added = || other.iter().find(|(name, _)| !one.contains_key(*name));
            in_one.or_else(|| added().map(|(name, value)| format!("{path}.{name}: absent, then {value}")))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| difference(one, other, &format!("{path}[{index}]")))
        }
        (Value::Number(one), Value::Number(other))
            if one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64() =>
        {
            None
        }
        _ => (one != other).then(|| format!("{path}: {one}, then {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_have_a_path() {
        let difference = |one, other| first_difference(&one, &other);
        assert_eq!(difference(json!({"a": [1, {"b": 2}]}), json!({"a": [1.0, {"b": 2}]})), None);
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(difference(json!({"a": [{"b": 2}]}), json!({"a": [{"b": 3}]})), expected(".a[0].b: 2, then 3"));
        assert_eq!(difference(json!({"a": 1}), json!({})), expected(".a: 1, then absent"));
        assert_eq!(difference(json!({}), json!({"a": {"b": 1}})), expected(".a: absent, then {\"b\":1}"));
        assert_eq!(difference(json!([1]), json!([1, 2])), expected(": [1], then [1,2]"));
    }
}
