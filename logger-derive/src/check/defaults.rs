//! The checks of `#[kubewright::defaults]`.

use proc_macro2::Span;

use super::root::serde_conflict;
use crate::{
    errors::Errors,
    model::{DefaultedType, FieldDefault},
};

/// Checks the attribute and those of the fields. Values that the parser rejected are reported there.
pub(crate) fn defaults(model: &DefaultedType, errors: &mut Errors) {
    check_position(model, errors);
    if let Some((derive, paths)) = &model.serde_derives {
        paths.iter().for_each(|path| errors.push(path, serde_conflict(derive, path)));
    }
    check_container_default(model, errors);
    check_places(model, errors);
    model.fields.iter().for_each(|field| check_field(field, errors));
    if model.fields.is_empty() && errors.is_empty() {
        let message = "no field has `#[default(..)]`; add one, or remove this attribute";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
}

/// The attribute must be above the derives: a derive above it would not have the defaults.
fn check_position(model: &DefaultedType, errors: &mut Errors) {
    if !["ApiObject", "Deserialize", "Object"].iter().any(|name| model.derives(name)) {
        let message = "wrong position: a derive above this attribute does not have the defaults; move it above the \
                       `#[derive(..)]` of `Deserialize`, or of `ApiObject` or `Object` for a kind";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
}

/// `#[serde(default)]` on the type conflicts: serde and schemars would take the defaults of all other fields from
/// `Default`.
fn check_container_default(model: &DefaultedType, errors: &mut Errors) {
    for (_, meta) in model.keys.iter().filter(|(reader, meta)| *reader == "serde" && meta.path().is_ident("default")) {
        errors.push(
            meta,
            "`#[serde(default)]` on the type also sets the defaults of fields without `#[default(..)]`; move it to \
             the fields that need it",
        );
    }
}

/// Only a field with a name can be absent and have a default.
fn check_places(model: &DefaultedType, errors: &mut Errors) {
    for attr in &model.misplaced {
        errors.push(attr, "`#[default(..)]` applies to a field; move it there");
    }
    for attr in &model.on_unnamed {
        errors.push(attr, "a field without a name has no default, because it is never absent; give it a name");
    }
    if let Some(found) = model.other_shape() {
        let message = format!(
            "`#[kubewright::defaults]` requires named fields, but this is {found}; use a struct with named fields"
        );
        errors.push(&model.item.ident, message);
    }
    for default in &model.conditional {
        errors.push(default, "a default cannot depend on a `cfg_attr`; move it out, or use `#[cfg(..)]` on two fields");
    }
}

fn check_field(field: &FieldDefault, errors: &mut Errors) {
    for attr in &field.duplicates {
        errors.push(attr, "duplicate default of this field; keep one");
    }
    for (reader, meta) in &field.keys {
        if meta.path().is_ident("default") {
            errors.push(
                meta,
                format_args!(
                    "conflicts with `#[default(..)]`, which sets the default for {reader}; keep one of the two"
                ),
            );
        } else if meta.path().is_ident("flatten") {
            errors.push(meta, "a flattened field is never absent; set the defaults on the fields of its type");
        }
    }
}
