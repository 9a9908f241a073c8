//! Checks of the keys about presence and updates of a field, and about its siblings.

use syn::{Data, DeriveInput, Field, Fields, Ident};

use super::{
    check::{JsonType, is_option, json_type},
    parse::SchemaType,
};
use crate::{
    attr::schema::{Names, SchemaAttr},
    errors::Errors,
};

/// The values of `update`.
const UPDATES: [&str; 5] = ["no_set", "no_unset", "no_modify", "no_add_item", "no_remove_item"];

/// Checks the fields of a struct with their siblings.
pub(super) fn check_fields(model: &SchemaType, input: &DeriveInput, errors: &mut Errors) {
    let variants: Vec<&Fields> = match &input.data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data.variants.iter().map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut attributes = model.fields.iter().map(|field| &field.attr);
    for fields in variants {
        let siblings: Vec<&Field> = fields.iter().collect();
        for (field, keys) in siblings.iter().zip(attributes.by_ref()) {
            check_presence(field, keys, errors);
            check_siblings(field, keys, &siblings, errors);
        }
    }
}

/// Checks the values of keys, as far as they do not depend on the type of the field.
pub(super) fn check_values(keys: &SchemaAttr, errors: &mut Errors) {
    for (i, name) in keys.update.iter().flat_map(|Names(names, _)| names.iter().enumerate()) {
        let earlier = keys.update.iter().flat_map(|Names(names, _)| &names[..i]);
        if !UPDATES.iter().any(|known| name == known) {
            let known = UPDATES.map(|known| format!("`{known}`")).join(", ");
            errors.push(name, format_args!("unknown update; expected one of {known}"));
        } else if earlier.into_iter().any(|one| one == name) {
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

/// Checks keys that apply to optional fields, and to fields of one type.
fn check_presence(field: &Field, keys: &SchemaAttr, errors: &mut Errors) {
    if keys.forbidden.is_present() && !is_option(&field.ty) {
        let message = "a required field is always set; make it an `Option`";
        errors.extend(syn::Error::new(keys.forbidden.span(), message));
    }
    for name in keys.update.iter().flat_map(|Names(names, _)| names) {
        let of_presence = name == "no_set" || name == "no_unset";
        let of_items = name == "no_add_item" || name == "no_remove_item";
        if of_presence && !is_option(&field.ty) {
            errors.push(name, "a required field is neither set nor unset by an update; make it an `Option`");
        }
        if let Some((json_type, _)) = json_type(&field.ty).filter(|_| of_items)
            && !matches!(json_type, JsonType::List | JsonType::Map)
        {
            let types = json_type.plural();
            errors.push(name, format_args!("`{name}` does not apply to {types}, which have no items; use `no_modify`"));
        }
    }
}

/// Checks the fields on which a field depends.
fn check_siblings(field: &Field, keys: &SchemaAttr, siblings: &[&Field], errors: &mut Errors) {
    for (key, names) in
        [("dependent_required", &keys.dependent_required), ("dependent_forbidden", &keys.dependent_forbidden)]
    {
        let Some(Names(names, span)) = names else { continue };
        if !is_option(&field.ty) {
            let message = format!("`{key}` applies to a field that can be absent; make it an `Option`");
            errors.extend(syn::Error::new(*span, message));
        }
        for (i, name) in names.iter().enumerate() {
            check_sibling(field, name, &names[..i], siblings, errors);
        }
    }
    let both = keys.dependent_required.iter().flat_map(|Names(names, _)| names);
    let forbidden = |name: &&Ident| keys.dependent_forbidden.iter().any(|Names(names, _)| names.contains(name));
    for name in both.filter(forbidden) {
        errors.push(name, "it cannot be required and forbidden; keep one of the two");
    }
}

fn check_sibling(field: &Field, name: &Ident, earlier: &[Ident], siblings: &[&Field], errors: &mut Errors) {
    match siblings.iter().find(|field| field.ident.as_ref() == Some(name)) {
        None => errors.push(name, "unknown field; expected the Rust name of another field of this type"),
        Some(_) if field.ident.as_ref() == Some(name) => {
            errors.push(name, "a field cannot depend on itself; use the name of another field");
        }
        Some(_) if earlier.contains(name) => errors.push(name, "duplicate value; keep one"),
        Some(other) if !is_option(&other.ty) => {
            errors.push(name, "it is always set, because it is required; make it an `Option`, or remove this");
        }
        Some(_) => {}
    }
}
