//! The checks of the keys about presence and updates of a field, and about its siblings.

use syn::Ident;

use super::types::plural;
use crate::{
    attr::schema::Names,
    errors::Errors,
    model::{
        SchemaField,
        rust_type::{JsonType, can_be_absent, json_type},
    },
};

/// Checks keys that apply to optional fields, and to fields of one type.
pub(super) fn check_presence(field: &SchemaField, errors: &mut Errors) {
    let keys = &field.attr;
    if keys.forbidden.is_present() && !can_be_absent(&field.ty) {
        let message = "a required field is always set; make it an `Option`";
        errors.extend(syn::Error::new(keys.forbidden.span(), message));
    }
    for name in keys.update.iter().flat_map(|Names(names, _)| names) {
        let is_presence = name == "no_set" || name == "no_unset";
        let is_items = name == "no_add_item" || name == "no_remove_item";
        if is_presence && !can_be_absent(&field.ty) {
            errors.push(name, "a required field is neither set nor unset by an update; make it an `Option`");
        }
        if let Some((json_type, _)) = json_type(&field.ty).filter(|_| is_items)
            && !matches!(json_type, JsonType::List | JsonType::Map)
        {
            let types = plural(json_type);
            errors.push(name, format_args!("`{name}` does not apply to {types}, which have no items; use `no_modify`"));
        }
    }
}

/// Checks the fields on which a field depends.
pub(super) fn check_siblings(field: &SchemaField, siblings: &[SchemaField], errors: &mut Errors) {
    let keys = &field.attr;
    for (key, names) in
        [("dependent_required", &keys.dependent_required), ("dependent_forbidden", &keys.dependent_forbidden)]
    {
        let Some(Names(names, span)) = names else { continue };
        if !can_be_absent(&field.ty) {
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

fn check_sibling(field: &SchemaField, name: &Ident, earlier: &[Ident], siblings: &[SchemaField], errors: &mut Errors) {
    match siblings.iter().find(|field| field.ident.as_ref() == Some(name)) {
        None => errors.push(name, "unknown field; expected the Rust name of another field of this type"),
        Some(_) if field.ident.as_ref() == Some(name) => {
            errors.push(name, "a field cannot depend on itself; use the name of another field");
        }
        Some(_) if earlier.contains(name) => errors.push(name, "duplicate value; keep one"),
        Some(other) if !can_be_absent(&other.ty) => {
            errors.push(name, "it is always set, because it is required; make it an `Option`, or remove this");
        }
        Some(_) => {}
    }
}
