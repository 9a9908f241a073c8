//! Checks that keys are allowed in their section, do not conflict, and apply to the type of their field.

use std::collections::BTreeSet;

use darling::ast::NestedMeta;
use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, Ident, LitStr, Path, PathArguments, Token, Type,
    punctuated::Punctuated,
};

use super::{parse::SchemaType, updates};
use crate::{
    attr::{
        self,
        schema::{Each, Names, Number, SchemaAttr, Validation},
        serde::has_serde_key,
    },
    errors::Errors,
    grammar::{self, Section},
};

/// Checks the attribute of a type.
pub(super) fn check_type(input: &DeriveInput, keys: &SchemaAttr, errors: &mut Errors) {
    for item in items(&input.attrs) {
        check_section(&grammar::SCHEMA_TYPE, "a type", &item, errors);
    }
    if let Data::Enum(data) = &input.data {
        for attr in data.variants.iter().flat_map(|variant| attr::named("schema", &variant.attrs)) {
            errors.push(
                attr,
                "`#[schema(..)]` does not apply to a variant; move it to a field of the variant, or to the enum",
            );
        }
    }
    check_conflicts(keys, errors);
}

/// Checks the attribute of a field.
pub(super) fn check_field(field: &Field, is_tuple: bool, keys: &SchemaAttr, errors: &mut Errors) {
    let items = items(&field.attrs);
    for attr in attr::named("schema", &field.attrs).filter(|_| !items.is_empty()) {
        if is_tuple {
            errors.push(attr, "a field without a name has no separate schema; move this to the type");
        } else if has_serde_key(&field.attrs, "flatten") {
            errors.push(
                attr,
                "a flattened field has no separate schema; move this to its type, or to the fields of its type",
            );
        }
    }
    for item in &items {
        check_section(&grammar::SCHEMA_FIELD, "a field", item, errors);
    }
    check_conflicts(keys, errors);
    check_required(field, keys, errors);
    check_type_keys(&field.ty, keys, errors);
}

/// Checks `required`, which applies to an `Option` that is always set.
fn check_required(field: &Field, keys: &SchemaAttr, errors: &mut Errors) {
    if !keys.required.is_present() {
        return;
    }
    if keys.nullable.is_present() && is_named(&field.ty, &["Option"]) {
        let message = "conflicts with `required`: a `None` is omitted from the JSON, so that the required field would \
                       be missing; use `kubewright::Nullable` in place of `Option`, without `nullable` and \
                       `required`";
        errors.extend(syn::Error::new(keys.nullable.span(), message));
    } else if !is_option(&field.ty) && !has_serde_key(&field.attrs, "default") {
        let message = "redundant key: a field that is not an `Option` is always required; remove this";
        errors.extend(syn::Error::new(keys.required.span(), message));
    }
}

/// Returns the items of all `#[schema(..)]`; attributes with syntax errors are skipped.
fn items(attrs: &[Attribute]) -> Vec<NestedMeta> {
    attr::named("schema", attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<NestedMeta, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// Reports a key that exists, but not in this section.
fn check_section(section: &Section, name: &str, item: &NestedMeta, errors: &mut Errors) {
    let NestedMeta::Meta(meta) = item else { return };
    let accepts = |section: &Section| section.keys.iter().any(|known| meta.path().is_ident(known.key));
    if accepts(section) {
        return;
    }
    let others = [("a type", &grammar::SCHEMA_TYPE), ("a field", &grammar::SCHEMA_FIELD)];
    let other = others.iter().find(|(_, other)| accepts(other)).map(|(other, _)| *other);
    // The parser has already reported a key of no section.
    if let Some(other) = other {
        let key = meta.path().to_token_stream();
        errors.push(meta.path(), format_args!("`{key}` applies to {other}, not to {name}; move it to {other}"));
    }
}

/// Checks keys that exclude or require each other.
fn check_conflicts(keys: &SchemaAttr, errors: &mut Errors) {
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
    if let Some(Number { expr, .. }) = keys.multiple_of.as_ref().filter(|of| of.value <= 0.0) {
        errors.push(expr, "invalid divisor: expected a number greater than 0");
    }
    if keys.no_format.is_present() && keys.format.is_some() {
        errors.extend(syn::Error::new(keys.no_format.span(), "conflicts with `format`; keep one of the two"));
    }
    check_topology(keys, errors);
    updates::check_values(keys, errors);
    keys.validation.iter().for_each(|validation| check_rule(validation, errors));
    if let Some(Each(keys, items)) = &keys.each {
        items.iter().for_each(|item| check_section(&grammar::SCHEMA_EACH, "each item", item, errors));
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
        keys.depth.as_ref().filter(|depth| !depth.base10_parse().is_ok_and(|of: u32| (1..=16).contains(&of)))
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
    let is_map = list_type.as_ref().is_some_and(|of| of.is_ident("map"));
    match (list_type, list_map_keys.first()) {
        (Some(of), None) if is_map => errors.push(of, "missing keys of the items; add `list_map_keys = [\"name\"]`"),
        (_, Some(key)) if !is_map => errors.push(key, "`list_map_keys` requires `list_type = map`; add it"),
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for key in list_map_keys.iter().filter(|key| !seen.insert(key.value())) {
        errors.push(key, "duplicate value; keep one");
    }
    if let (Some(_), Some(of)) = (map_type, struct_type) {
        errors.push(of, "conflicts with `map_type`; keep one of the two");
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
            format_args!("unknown reason; expected one of {}", REASONS.map(|of| format!("`\"{of}\"`")).join(", ")),
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

/// Checks the fields of unions: at least two optional fields of the type.
pub(super) fn check_unions(model: &SchemaType, input: &DeriveInput, errors: &mut Errors) {
    let SchemaAttr { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &model.attr;
    let unions: Vec<&Names> = exactly_one_of.iter().chain(at_most_one_of).chain(at_least_one_of).collect();
    if let Some(via) = via.as_ref().filter(|_| unions.is_empty()) {
        errors.push(
            via,
            "`via` requires `exactly_one_of`, `at_most_one_of` or `at_least_one_of`; add one, or remove this",
        );
    }
    let Data::Struct(data) = &input.data else {
        for Names(names, _) in unions {
            errors.push(
                names.first(),
                "a union of fields applies to structs only; remove this, because an enum is already one of its \
                 variants",
            );
        }
        return;
    };
    for Names(names, _) in unions {
        if names.len() < 2 {
            errors.extend(syn::Error::new(
                names.first().map_or(Span::call_site(), Ident::span),
                "a union requires at least two fields; add another, or remove this",
            ));
        }
        for (i, name) in names.iter().enumerate() {
            let field = data.fields.iter().find(|field| field.ident.as_ref() == Some(name));
            match field {
                None => errors.push(name, "unknown field; expected the Rust name of a field of this struct"),
                Some(_) if names[..i].contains(name) => errors.push(name, "duplicate value; keep one"),
                Some(field) if !is_option(&field.ty) => {
                    errors.push(name, "a field of a union must be optional; make it an `Option`")
                }
                Some(_) => {}
            }
        }
    }
}

/// The JSON type of a Rust type, as far as its name shows it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum JsonType {
    String,
    Integer,
    Number,
    Boolean,
    List,
    Map,
}

impl JsonType {
    pub(super) fn plural(self) -> &'static str {
        match self {
            JsonType::String => "strings",
            JsonType::Integer => "integers",
            JsonType::Number => "numbers",
            JsonType::Boolean => "booleans",
            JsonType::List => "lists",
            JsonType::Map => "maps",
        }
    }

    /// Returns the suggestion for a key that does not apply to the type: the key with that effect on this type, if any.
    fn suggestion(self, key: &str) -> String {
        let is_bound = ["min", "max", "length", "items", "properties"].contains(&key);
        let is_of_items = ["pattern", "multiple_of", "embedded_resource", "max_bytes", "neq"].contains(&key);
        match self {
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
}

/// Reports keys that do not apply to the type of the field. A type whose name does not show its JSON type is checked by
/// the generator, with its schema.
fn check_type_keys(ty: &Type, keys: &SchemaAttr, errors: &mut Errors) {
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
            let suggestion = json_type.suggestion(key);
            errors.push(ty, format_args!("`{key}` does not apply to {}{suggestion}", json_type.plural()));
        }
    }
    if let Some(bound) = [&keys.min, &keys.max].into_iter().flatten().find(|bound| bound.integer.is_none())
        && json_type == Integer
    {
        errors.push(&bound.expr, "invalid bound: expected an integer, because the field is one");
    }
    check_range(ty, keys, errors);
    if let (Some(item), Some(Each(keys, _))) = (item, &keys.each) {
        check_type_keys(item, keys, errors);
    }
}

/// Reports bounds that no value of an integer type exceeds.
fn check_range(ty: &Type, keys: &SchemaAttr, errors: &mut Errors) {
    let Some((name, min, max)) = integer_range(ty) else { return };
    for bound in [&keys.min, &keys.max].into_iter().flatten() {
        if bound.integer.is_some_and(|value| value < min || value > max) {
            errors.push(
                &bound.expr,
                format_args!("bound out of range: `{name}` has the values {min} to {max}; correct it, or the type"),
            );
        }
    }
}

/// Returns the name and the limits of an integer type. Imported fields are `i32` or `i64`, with the bounds of their
/// definition, which can be wider.
fn integer_range(ty: &Type) -> Option<(&'static str, i128, i128)> {
    let Type::Path(path) = attr::ungrouped_type(ty) else { return None };
    let last = path.path.segments.last()?;
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        let is_wrapper = ["Option", "Box", "Nullable"].iter().any(|name| last.ident == name);
        return match arguments.args.first()? {
            GenericArgument::Type(inner) if is_wrapper => integer_range(inner),
            _ => None,
        };
    }
    let known = [
        ("i8", i8::MIN.into(), i8::MAX.into()),
        ("i16", i16::MIN.into(), i16::MAX.into()),
        ("u8", 0, u8::MAX.into()),
        ("u16", 0, u16::MAX.into()),
        ("u32", 0, u32::MAX.into()),
        ("u64", 0, u64::MAX.into()),
    ];
    known.into_iter().find(|(name, ..)| last.ident == name)
}

/// Returns the JSON type of a Rust type, if its name shows it, and the type of its items.
pub(super) fn json_type(ty: &Type) -> Option<(JsonType, Option<&Type>)> {
    let last = match ty {
        Type::Group(group) => return json_type(&group.elem),
        Type::Paren(paren) => return json_type(&paren.elem),
        Type::Array(array) => return Some((JsonType::List, Some(&array.elem))),
        Type::Path(path) => path.path.segments.last()?,
        _ => return None,
    };
    let arguments: Vec<&Type> = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    };
    let some = |json_type| Some((json_type, arguments.last().copied()));
    match last.ident.to_string().as_str() {
        "Option" | "Box" | "Nullable" => json_type(arguments.first()?),
        "String" | "str" => some(JsonType::String),
        "bool" => some(JsonType::Boolean),
        "f32" | "f64" => some(JsonType::Number),
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => some(JsonType::Integer),
        "Vec" | "VecDeque" | "BTreeSet" | "HashSet" if arguments.len() == 1 => some(JsonType::List),
        "BTreeMap" | "HashMap" if arguments.len() == 2 => some(JsonType::Map),
        _ => None,
    }
}

/// Whether a field of the type can be absent.
pub(super) fn is_option(ty: &Type) -> bool {
    is_named(ty, &["Option", "Nullable"])
}

fn is_named(ty: &Type, names: &[&str]) -> bool {
    match ty {
        Type::Group(group) => is_named(&group.elem, names),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name)),
        _ => false,
    }
}
