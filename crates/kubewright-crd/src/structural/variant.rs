//! Names of variants in errors, and the errors of alternatives that cannot be merged.

use std::collections::BTreeSet;

use super::flattened::Flattened;

/// Returns the name of a variant: its name in Rust, its tag, its only field, or its index.
pub(super) fn variant_name(all: &[Flattened], i: usize) -> String {
    let flattened = &all[i];
    let tag = flattened.properties().find_map(|(name, _)| flattened.tag_value(name)?.as_str());
    let single_field = |flattened: &Flattened| {
        flattened.properties().next().filter(|_| flattened.properties().count() == 1).map(|(name, _)| name.clone())
    };
    let is_unique = all.iter().filter(|other| single_field(other) == single_field(flattened)).count() == 1;
    let single_field = single_field(flattened).filter(|_| is_unique);
    let first_value = flattened.get("enum").and_then(|values| values.get(0)?.as_str());
    match flattened.variant.as_deref().or(tag).or(first_value).or(single_field.as_deref()) {
        Some(name) => format!("variant `{name}`"),
        None => format!("variant {}", i + 1),
    }
}

/// Returns the error of alternatives with different types.
pub(super) fn different_types(all: &[Flattened]) -> String {
    let unit = all.iter().position(|flattened| flattened.json_type() == "string" && flattened.get("enum").is_some());
    if let (Some(unit), true) = (unit, all.iter().any(|flattened| flattened.json_type() == "object")) {
        let name = variant_name(all, unit);
        let bare = name.trim_start_matches("variant ").trim_matches('`').to_owned();
        return format!(
            "{name} is a string in JSON and others are objects, and a field must have a single type; use `{bare} \
             {{}}`, which is an object"
        );
    }
    let types: Vec<String> =
        (0..all.len()).map(|i| format!("{} is of type {}", variant_name(all, i), all[i].json_type())).collect();
    format!(
        "{}, and a field must have a single type; use an enum with a struct variant for each type, or accept any \
         value with `#[schema(preserve_unknown_fields)]`",
        types.join(", ")
    )
}

/// Validates that a field has the same type in all variants. Merging an integer and a string would allow both in each
/// variant.
pub(super) fn validate_same_type(all: &[Flattened], names: &[String]) -> Result<(), String> {
    let types: BTreeSet<&str> =
        all.iter().map(|flattened| if flattened.unions.is_empty() { flattened.json_type() } else { "enum" }).collect();
    if types.len() == 1 || types == BTreeSet::from(["integer", "number"]) {
        return Ok(());
    }
    let types: Vec<String> =
        all.iter().zip(names).map(|(flattened, name)| format!("of type {} in {name}", flattened.json_type())).collect();
    Err(format!(
        "is {}, and a field must have a single type; rename one, or accept any value with \
         `#[schema(preserve_unknown_fields)]`",
        types.join(", ")
    ))
}
