//! The checks across the keys of `#[convert(..)]`, one function each. What concerns the other version is checked by
//! rustc in the emitted constants.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::{Ident, ext::IdentExt};

use super::serde;
use crate::{
    attr::convert::{FieldAttr, HubKey, ReasonOrReasons, TypeAttr, WordOrNames},
    errors::Errors,
    model::{ConvertBody, ConvertField, ConvertType, ConvertVariant, Payload},
};

/// Checks a type that derives `Convert`.
pub(crate) fn convert(model: &ConvertType, errors: &mut Errors) {
    serde::check_keys(&model.items, |row| row.convert, errors);
    check_shape(model, errors);
    if !model.is_convertible() {
        return;
    }
    match model.attr.hub {
        None => check_hub_key(errors),
        Some(HubKey::Itself) => check_no_keys(model, errors),
        Some(HubKey::Type(_)) => {
            check_hub_only(model, errors);
            for fields in model.field_lists() {
                fields.iter().for_each(|field| check_field(field, errors));
                check_targets(fields, errors);
            }
            if let ConvertBody::Newtype(field) = &model.body {
                check_newtype(field, errors);
            }
            check_variants(model.variants(), errors);
        }
    }
}

/// Rejects what no conversion can have: parameters, and fields without names.
fn check_shape(model: &ConvertType, errors: &mut Errors) {
    const FIELDS: &str = "`Convert` requires named fields, or one field without a name";
    if !model.generics.params.is_empty() {
        let message = "`Convert` does not support generic types: a conversion is between two types; remove the \
                       parameters";
        errors.push(&model.generics, message);
        return;
    }
    match &model.body {
        ConvertBody::Tuple => errors.push(&model.ident, FIELDS),
        ConvertBody::Union => errors.push(&model.ident, "unsupported union: it has no JSON encoding; use an enum"),
        _ => {}
    }
    for variant in model.variants() {
        if let Payload::Tuple(fields) = &variant.payload {
            errors.push(fields, FIELDS);
        }
    }
}

fn check_hub_key(errors: &mut Errors) {
    if errors.is_empty() {
        let message = "missing `#[convert(hub = v2::Widget)]` with the type of the hub; on that type, \
                       `#[convert(hub)]`";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
}

/// A type of the hub declares nothing about its spokes.
fn check_no_keys(model: &ConvertType, errors: &mut Errors) {
    const MESSAGE: &str = "this is a type of the hub: conversions are declared on the types of the spokes; remove this";
    let TypeAttr { krate: _, hub: _, store, lost, default } = &model.attr;
    let names = store.iter().flat_map(|names| &names.0);
    let lost = lost.iter().flat_map(|reasons| &reasons.0).map(|(name, _)| name);
    let default = default.iter().flat_map(|defaults| &defaults.0).map(|(name, _)| name);
    names.chain(lost).chain(default).for_each(|name| errors.push(name, MESSAGE));
    let on_fields = model.field_lists().into_iter().flatten().flat_map(|field| &field.attrs);
    on_fields.for_each(|attr| errors.push(attr, MESSAGE));
    model.variants().iter().flat_map(|variant| &variant.attrs).for_each(|attr| errors.push(attr, MESSAGE));
}

/// A field of the hub that the spoke does not have is stored or lost, once, and no field converts it.
fn check_hub_only(model: &ConvertType, errors: &mut Errors) {
    let TypeAttr { krate: _, hub: _, store, lost, default } = &model.attr;
    let store: Vec<&Ident> = store.iter().flat_map(|names| &names.0).collect();
    let lost: Vec<&Ident> = lost.iter().flat_map(|reasons| &reasons.0).map(|(name, _)| name).collect();
    let default: Vec<&Ident> = default.iter().flat_map(|defaults| &defaults.0).map(|(name, _)| name).collect();
    let ConvertBody::Struct(fields) = &model.body else {
        let message = "this type has no named fields; declare this on the type with the field";
        store.iter().chain(&lost).chain(&default).for_each(|name| errors.push(name, message));
        return;
    };
    for names in [&store, &lost, &default] {
        check_unique(names, errors);
    }
    for name in lost.iter().filter(|name| store.contains(name)) {
        errors.push(name, "this field is stored, so it is not lost; keep one");
    }
    let converted: BTreeSet<String> = fields.iter().map(ConvertField::hub_name).collect();
    let all: Vec<&Ident> = store.into_iter().chain(lost).chain(default).collect();
    for (i, name) in all.iter().enumerate().filter(|(_, name)| converted.contains(&name.unraw().to_string())) {
        if !all[..i].contains(name) {
            errors.push(name, "a field of this type converts into it; declare this on that field");
        }
    }
}

fn check_unique(names: &[&Ident], errors: &mut Errors) {
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            errors.push(name, "duplicate name; keep one");
        }
    }
}

fn check_field(field: &ConvertField, errors: &mut Errors) {
    let FieldAttr { from, with, default, store, lost } = &field.attr;
    let at = field.attrs.first();
    if store.is_some() && lost.is_some() {
        errors.push(at, "`store` and `lost` exclude each other; keep one");
    }
    let has_conversion = from.is_some() || with.is_some() || default.is_some() || store.is_some();
    if field.flatten && has_conversion {
        let message = "a flattened field has no value; declare this on the fields of its type";
        errors.push(at, message);
    }
    if with.is_some() && store.is_some() {
        errors.push(at, "`store` is redundant: a value that the functions do not restore is always stored; remove it");
    }
}

/// No two fields convert into the same field of the hub.
fn check_targets(fields: &[ConvertField], errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for field in fields {
        let name = field.hub_name();
        if !names.insert(name.clone()) {
            let message = format!(
                "another field also converts into `{name}` of the hub; use another name with `#[convert(from = \
                 \"..\")]`"
            );
            errors.extend(syn::Error::new(field.span, message));
        }
    }
}

/// A newtype is encoded as its field, which has no name and is never absent.
fn check_newtype(field: &ConvertField, errors: &mut Errors) {
    let FieldAttr { from, with: _, default, store: _, lost } = &field.attr;
    if from.is_some() || default.is_some() || lost.is_some() {
        errors.push(
            field.attrs.first(),
            "this field has no name and is never absent; only `with` and `store` apply to it",
        );
    }
}

fn check_variants(variants: &[ConvertVariant], errors: &mut Errors) {
    let mut targets = BTreeSet::new();
    for variant in variants {
        if let Payload::Newtype(field) = &variant.payload {
            check_newtype(field, errors);
        }
        check_variant(variant, errors);
        if !variant.is_many_to_one() && !targets.insert(variant.hub_name()) {
            let message = format!(
                "another variant also converts into `{}` of the hub; store this one (`store`) or accept the loss \
                 (`lost = \"reason\"`)",
                variant.hub_name()
            );
            errors.push(&variant.ident, message);
        }
    }
    let stands_for = variants.iter().flat_map(ConvertVariant::stands_for).map(|(name, _)| name);
    let stands_for: Vec<&Ident> = stands_for.collect();
    check_unique(&stands_for, errors);
    for name in stands_for.iter().filter(|name| targets.contains(&name.unraw().to_string())) {
        errors.push(name, "a variant of this type converts into it; remove this");
    }
}

fn check_variant(variant: &ConvertVariant, errors: &mut Errors) {
    if variant.is_many_to_one() && variant.attr.from.is_none() {
        let message = "missing `from = \"..\"`: the unit variant of the hub that stands for this one";
        errors.push(variant.attrs.first(), message);
    }
    if matches!((&variant.attr.store, &variant.attr.lost), (Some(WordOrNames::Word), Some(ReasonOrReasons::Reason(_))))
    {
        errors.push(variant.attrs.first(), "`store` and `lost` exclude each other; keep one");
    }
    let is_unit = matches!(variant.payload, Payload::Unit);
    for (name, _) in variant.stands_for().into_iter().filter(|_| !is_unit || variant.is_many_to_one()) {
        errors.push(name, "only a variant without content that has its own counterpart can stand for others");
    }
}
