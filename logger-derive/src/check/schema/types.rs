//! The checks that the keys of a field apply to its type.

use syn::Type;

use crate::{
    attr::schema::{Each, Number, Scalar, SchemaAttr},
    errors::Errors,
    model::rust_type::{JsonType, integer_range, is_type_named, json_type, map_keys},
};

/// Reports keys that do not apply to the type of the field. A type whose name does not show its JSON type is checked by
/// the generator, with its schema.
pub(super) fn check_type_keys(ty: &Type, keys: &SchemaAttr, errors: &mut Errors) {
    let Some((json_type, item)) = json_type(ty) else { return };
    use JsonType::{Boolean, Integer, List, Map, Number, String};
    for (is_set, key, types) in [
        (keys.min.is_some(), "min", &[Integer, Number][..]),
        (keys.max.is_some(), "max", &[Integer, Number]),
        (keys.multiple_of.is_some(), "multiple_of", &[Integer, Number]),
        (keys.length.is_some(), "length", &[String]),
        (keys.pattern.is_some(), "pattern", &[String]),
        (keys.max_bytes.is_some(), "max_bytes", &[String]),
        (keys.monotonic.is_present(), "monotonic", &[Integer, Number]),
        (keys.neq.is_some(), "neq", &[String, Integer, Number, Boolean]),
        (keys.unique.is_some(), "unique", &[List]),
        (keys.each_key.is_some(), "each_key", &[Map]),
        (keys.items.is_some(), "items", &[List]),
        (keys.list_type.is_some(), "list_type", &[List]),
        (keys.properties.is_some(), "properties", &[Map]),
        (keys.map_type.is_some(), "map_type", &[Map]),
        (keys.struct_type.is_some(), "struct_type", &[]),
        (keys.each.is_some(), "each", &[List, Map]),
        (keys.embedded_resource.is_present(), "embedded_resource", &[Map]),
        (keys.column.is_some(), "column", &[String, Integer, Number, Boolean]),
        (keys.selectable.is_present(), "selectable", &[String, Integer, Boolean]),
    ] {
        if is_set && !types.contains(&json_type) {
            let suggestion = suggestion(json_type, key);
            errors.push(ty, format_args!("`{key}` does not apply to {}{suggestion}", plural(json_type)));
        }
    }
    if let Some(bound) = [&keys.min, &keys.max].into_iter().flatten().find(|bound| bound.integer.is_none())
        && json_type == Integer
    {
        errors.push(&bound.expr, "invalid bound: expected an integer, because the field is one");
    }
    check_range(ty, keys, errors);
    if let (Some(item), Some(Each(keys))) = (item, &keys.each) {
        check_type_keys(item, keys, errors);
    }
}

/// Reports maps whose keys have a length, which the schema of a map does not show.
pub(super) fn check_map_keys(ty: &Type, errors: &mut Errors) {
    for key in map_keys(ty).into_iter().filter(|key| is_type_named(key, &["char"])) {
        let message = "the schema of a map accepts keys of any length; use `String` with `#[schema(each_key(length = \
                       1..=1))]`";
        errors.push(key, message);
    }
}

/// Reports bounds that no value of an integer type exceeds.
fn check_range(ty: &Type, keys: &SchemaAttr, errors: &mut Errors) {
    let Some((name, min, max)) = integer_range(ty) else { return };
    for value in keys.values.iter().flat_map(|values| &values.0).chain(&keys.neq) {
        if let Scalar::Number(Number { expr, integer: Some(value), .. }) = value
            && (*value < min || *value > max)
        {
            errors.push(
                expr,
                format_args!(
                    "value out of range: `{name}` has the values {min} to {max}; remove it, or correct the type"
                ),
            );
        }
    }
    for bound in [&keys.min, &keys.max].into_iter().flatten() {
        if bound.integer.is_some_and(|value| value < min || value > max) {
            errors.push(
                &bound.expr,
                format_args!("bound out of range: `{name}` has the values {min} to {max}; correct it, or the type"),
            );
        }
    }
}

pub(super) fn plural(json_type: JsonType) -> &'static str {
    match json_type {
        JsonType::String => "strings",
        JsonType::Integer => "integers",
        JsonType::Number => "numbers",
        JsonType::Boolean => "booleans",
        JsonType::List => "lists",
        JsonType::Map => "maps",
    }
}

/// Returns the suggestion for a key that does not apply to the type: the key with that effect on this type, if any.
fn suggestion(json_type: JsonType, key: &str) -> String {
    let is_bound = ["min", "max", "length", "items", "properties"].contains(&key);
    let is_of_items = ["pattern", "multiple_of", "embedded_resource", "max_bytes", "neq"].contains(&key);
    match json_type {
        JsonType::String if is_bound => "; use `length`".to_owned(),
        JsonType::Integer | JsonType::Number if is_bound => "; use `min` and `max`".to_owned(),
        JsonType::List if is_bound => format!("; use `items` for the list, or `each({key} = ..)` for its items"),
        JsonType::Map if is_bound => {
            format!("; use `properties` for the map, or `each({key} = ..)` for its values")
        }
        JsonType::List | JsonType::Map if is_of_items => format!("; use `{key}` in `each(..)` for the items"),
        JsonType::List if key == "map_type" => "; use `list_type`".to_owned(),
        JsonType::Map if ["list_type", "struct_type"].contains(&key) => "; use `map_type`".to_owned(),
        _ => "; remove it".to_owned(),
    }
}
