//! Compares objects, without what is declared as lost.

use serde_json::{Map, Value};

use crate::conversion::plan::{Conversion, Direction, Enum, Field, Payload, Struct};

/// Removes what the other version does not have and the declaration declares as lost. `direction` is that of the
/// conversion of this object.
pub(super) fn forget_lost(conversion: Conversion, value: &mut Value, direction: Direction) {
    match (conversion, value) {
        (Conversion::Struct(plan), Value::Object(object)) => forget_fields(plan, object, direction),
        (Conversion::List(item), Value::Array(items)) => {
            items.iter_mut().for_each(|value| forget_lost(item(), value, direction));
        }
        (Conversion::Map(entry), Value::Object(entries)) => {
            entries.values_mut().for_each(|value| forget_lost(entry(), value, direction));
        }
        (Conversion::Enum(plan), value) => forget_variants(plan, value, direction),
        _ => {}
    }
}

fn forget_fields(plan: &Struct, object: &mut Map<String, Value>, direction: Direction) {
    for field in plan.fields {
        forget_field(field, object, direction);
    }
    for field in plan.hub_only.iter().filter(|field| field.lost.is_some() && direction == Direction::FromHub) {
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
fn forget_variants(plan: &Enum, value: &mut Value, direction: Direction) {
    let lost = plan.variants.iter().filter(|variant| variant.lost.is_some() && variant.narrows == Some(direction));
    for variant in lost {
        let (name, target) = direction.order(variant.spoke, variant.hub);
        let stands_for = plan
            .variants
            .iter()
            .find(|other| other.narrows.is_none() && direction.order(other.spoke, other.hub).1 == target);
        let names = stands_for.map(|other| direction.order(other.spoke, other.hub).0).into_iter().chain([name]);
        if names.into_iter().any(|name| mentions(value, name)) {
            *value = Value::Null;
            return;
        }
    }
    for variant in plan.variants.iter().filter(|variant| variant.narrows.is_none()) {
        let name = direction.order(variant.spoke, variant.hub).0;
        match (variant.payload, value.get_mut(name)) {
            (Payload::Newtype(conversion), Some(content)) => forget_lost(conversion(), content, direction),
            (Payload::Struct(plan), Some(Value::Object(content))) => forget_fields(plan, content, direction),
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
pub(super) fn first_difference(left: &Value, right: &Value) -> Option<String> {
    difference(left, right, "")
}

fn difference(left: &Value, right: &Value, path: &str) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let in_left = left.iter().find_map(|(name, value)| {
                let path = format!("{path}.{name}");
                match right.get(name) {
                    Some(right) => difference(value, right, &path),
                    None => Some(format!("{path}: {value}, then absent")),
                }
            });
            let added = || right.iter().find(|(name, _)| !left.contains_key(*name));
            in_left.or_else(|| added().map(|(name, value)| format!("{path}.{name}: absent, then {value}")))
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut pairs = left.iter().zip(right).enumerate();
            pairs.find_map(|(index, (left, right))| difference(left, right, &format!("{path}[{index}]")))
        }
        (Value::Number(left), Value::Number(right))
            if left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64() =>
        {
            None
        }
        _ => (left != right).then(|| format!("{path}: {left}, then {right}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_have_a_path() {
        let difference = |left, right| first_difference(&left, &right);
        assert_eq!(difference(json!({"a": [1, {"b": 2}]}), json!({"a": [1.0, {"b": 2}]})), None);
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(difference(json!({"a": [{"b": 2}]}), json!({"a": [{"b": 3}]})), expected(".a[0].b: 2, then 3"));
        assert_eq!(difference(json!({"a": 1}), json!({})), expected(".a: 1, then absent"));
        assert_eq!(difference(json!({}), json!({"a": {"b": 1}})), expected(".a: absent, then {\"b\":1}"));
        assert_eq!(difference(json!([1]), json!([1, 2])), expected(": [1], then [1,2]"));
    }
}
