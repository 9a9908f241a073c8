//! The checks of the keys of one `#[schema(..)]`, whatever the type it applies to.

use std::collections::BTreeSet;

use syn::{LitStr, Path};

use crate::{
    attr::schema::{Each, Names, Number, SchemaAttr, Validation},
    errors::Errors,
    grammar::{self, Section},
};

/// The values of `update`.
const UPDATES: [&str; 5] = ["no_set", "no_unset", "no_modify", "no_add_item", "no_remove_item"];

/// Reports keys that exist, but not in this section.
pub(super) fn check_section(section: &Section, name: &str, keys: &SchemaAttr, errors: &mut Errors) {
    for key in &keys.written {
        let accepts = |section: &Section| section.keys.iter().any(|known| key.is_ident(known.key));
        if accepts(section) {
            continue;
        }
        let others = [("a type", &grammar::SCHEMA_TYPE), ("a field", &grammar::SCHEMA_FIELD)];
        let other = others.iter().find(|(_, other)| accepts(other)).map(|(other, _)| *other);
        // The parser has already reported a key of no section.
        if let (Some(other), Some(ident)) = (other, key.get_ident()) {
            errors.push(key, format_args!("`{ident}` applies to {other}, not to {name}; move it to {other}"));
        }
    }
}

/// Checks keys that exclude or require each other.
pub(super) fn check_conflicts(keys: &SchemaAttr, errors: &mut Errors) {
    if let (Some(min), Some(max)) = (&keys.min, &keys.max)
        && min.exceeds(max)
    {
        errors.push(&max.expr, "empty range: `max` is less than `min`");
    }
    for (flag, bound, key) in [(&keys.exclusive_min, &keys.min, "min"), (&keys.exclusive_max, &keys.max, "max")] {
        if flag.is_present() && bound.is_none() {
            let message = format!("missing bound to exclude; add `{key} = ..`");
            errors.extend(syn::Error::new(flag.span(), message));
        }
    }
    if let Some(Number { expr, .. }) = keys.multiple_of.as_ref().filter(|divisor| divisor.value <= 0.0) {
        errors.push(expr, "invalid divisor: expected a number greater than 0");
    }
    if keys.no_format.is_present() && keys.format.is_some() {
        errors.extend(syn::Error::new(keys.no_format.span(), "conflicts with `format`; keep one of the two"));
    }
    check_topology(keys, errors);
    check_values(keys, errors);
    keys.validation.iter().for_each(|validation| check_rule(validation, errors));
    if let Some(Each(keys)) = &keys.each {
        check_section(&grammar::SCHEMA_EACH, "each item", keys, errors);
        check_conflicts(keys, errors);
    }
    for priority in keys.column.iter().filter_map(|column| column.0.priority.as_ref()) {
        if priority.base10_parse::<i32>().is_err() {
            errors.push(
                priority,
                "invalid priority: expected a 32-bit integer; 0 is always shown, greater ones only with `-o wide`",
            );
        }
    }
    if let Some(depth) =
        keys.depth.as_ref().filter(|depth| !depth.base10_parse().is_ok_and(|depth: u32| (1..=16).contains(&depth)))
    {
        errors.push(depth, "invalid depth: expected 1 to 16, because every level is part of the schema");
    }
}

/// Checks the merge strategies of lists and maps.
fn check_topology(keys: &SchemaAttr, errors: &mut Errors) {
    let SchemaAttr { list_type, list_map_keys, map_type, struct_type, .. } = keys;
    for (value, allowed) in [
        (list_type, &["atomic", "set", "map"][..]),
        (map_type, &["atomic", "granular"]),
        (struct_type, &["atomic", "granular"]),
        (&keys.via, &["cel", "schema"]),
    ] {
        check_value(value.as_ref(), allowed, errors);
    }
    let is_map = list_type.as_ref().is_some_and(|list_type| list_type.is_ident("map"));
    match (list_type, list_map_keys.first()) {
        (Some(list_type), None) if is_map => {
            errors.push(list_type, "missing keys of the items; add `list_map_keys = [\"name\"]`")
        }
        (_, Some(key)) if !is_map => errors.push(key, "`list_map_keys` requires `list_type = map`; add it"),
        _ => {}
    }
    let mut known = BTreeSet::new();
    for key in list_map_keys.iter().filter(|key| !known.insert(key.value())) {
        errors.push(key, "duplicate value; keep one");
    }
    if let (Some(_), Some(struct_type)) = (map_type, struct_type) {
        errors.push(struct_type, "conflicts with `map_type`; keep one of the two");
    }
}

fn check_value(value: Option<&Path>, allowed: &[&str], errors: &mut Errors) {
    if let Some(value) = value.filter(|value| !allowed.iter().any(|known| value.is_ident(known))) {
        let allowed = allowed.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
        errors.push(value, format_args!("unknown value; expected one of {allowed}"));
    }
}

/// Checks a rule as the API server does, except for its expression.
fn check_rule(validation: &Validation, errors: &mut Errors) {
    const REASONS: [&str; 4] =
        ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];
    let Validation { rule, message, message_expression, reason, field_path, optional_old_self } = validation;
    if rule.value().trim().is_empty() {
        errors.push(rule, "empty rule: expected a CEL expression, such as `self.min <= self.max`");
    }
    let has_lines = |text: &LitStr| text.value().contains(['\n', '\r']);
    if has_lines(rule) && message.is_none() {
        errors.push(
            rule,
            "missing `message`: it is required for a rule of several lines, which the server does not show",
        );
    }
    for text in [message, message_expression].into_iter().flatten() {
        if text.value().trim().is_empty() {
            errors.push(text, "empty message; remove it or describe the violation");
        }
    }
    if let Some(message) = message.as_ref().filter(|message| has_lines(message)) {
        errors.push(message, "invalid message: line breaks are not allowed");
    }
    if let Some(reason) = reason.as_ref().filter(|reason| !REASONS.contains(&&*reason.value())) {
        errors.push(
            reason,
            format_args!(
                "unknown reason; expected one of {}",
                REASONS.map(|reason| format!("`\"{reason}\"`")).join(", ")
            ),
        );
    }
    if let Some(path) = field_path.as_ref().filter(|path| !path.value().starts_with(['.', '['])) {
        errors.push(path, "invalid path: expected the path of a nested field, such as `.size`");
    }
    if optional_old_self.is_present() && !rule.value().contains("oldSelf") {
        let message = "the rule does not use `oldSelf`; remove this key, or use `oldSelf` in the rule";
        errors.extend(syn::Error::new(optional_old_self.span(), message));
    }
}

/// Checks the values of keys, as far as they do not depend on the type of the field.
fn check_values(keys: &SchemaAttr, errors: &mut Errors) {
    for (i, name) in keys.update.iter().flat_map(|Names(names, _)| names.iter().enumerate()) {
        let earlier = keys.update.iter().flat_map(|Names(names, _)| &names[..i]);
        if !UPDATES.iter().any(|known| name == known) {
            let known = UPDATES.map(|known| format!("`{known}`")).join(", ");
            errors.push(name, format_args!("unknown update; expected one of {known}"));
        } else if earlier.into_iter().any(|earlier| earlier == name) {
            errors.push(name, "duplicate value; keep one");
        }
    }
    for names in [&keys.update, &keys.dependent_required, &keys.dependent_forbidden].into_iter().flatten() {
        if names.0.is_empty() {
            errors.extend(syn::Error::new(names.1, "empty list; add a value, or remove this"));
        }
    }
    let max_bytes = keys.max_bytes.as_ref().filter(|count| !count.base10_parse().is_ok_and(|count: u32| count > 0));
    if let Some(count) = max_bytes {
        errors.push(count, "invalid number of bytes: expected a positive 32-bit integer");
    }
    if let Some(Names(names, _)) = keys.update.as_ref().filter(|_| keys.immutable.is_present()) {
        errors.push(names.first(), "redundant key beside `immutable`, which allows no update; keep one of the two");
    }
    if keys.forbidden.is_present() && keys.required.is_present() {
        let message = "conflicts with `required`: such an object cannot exist; keep one of the two";
        errors.extend(syn::Error::new(keys.forbidden.span(), message));
    }
}
