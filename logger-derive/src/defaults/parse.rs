//! Parses `#[default(..)]` of the fields, and checks for conflicting attributes.

use proc_macro2::Span;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, Meta, Path};

use super::FieldDefault;
use crate::{
    attr::{self, defaults::value, derives, is_named, serde::is_serde_derive},
    check::serde_conflict,
    errors::Errors,
};

/// Removes every `#[default(..)]` from the fields, and checks for conflicting attributes.
pub(super) fn defaults(input: &mut DeriveInput, errors: &mut Errors) -> Vec<FieldDefault> {
    check_position(&input.attrs, errors);
    check_serde_derives(&mut input.attrs, errors);
    check_container_default(&input.attrs, errors);
    check_field_names(input, errors);
    let fields = named_fields(&mut input.data).into_iter();
    let defaults: Vec<_> = fields.filter_map(|(variant, field)| parse_field(variant, field, errors)).collect();
    if defaults.is_empty() && errors.is_empty() {
        let message = "no field has `#[default(..)]`; add one, or remove this attribute";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
    defaults
}

/// The attribute must be above the derives: a derive above it would not have the defaults.
fn check_position(attrs: &[Attribute], errors: &mut Errors) {
    let deserializes = |path: &Path| ["ApiObject", "Deserialize", "Object"].iter().any(|name| is_named(path, name));
    if !derives(attrs).iter().any(deserializes) {
        let message = "wrong position: a derive above this attribute does not have the defaults; move it above the \
                       `#[derive(..)]` of `Deserialize`, or of `ApiObject` or `Object` for a kind";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
}

/// `#[serde(default)]` on the type conflicts: serde and schemars would take the defaults of all other fields from
/// `Default`.
fn check_container_default(attrs: &[Attribute], errors: &mut Errors) {
    for meta in attr::keys("serde", attrs).into_iter().filter(|meta| meta.path().is_ident("default")) {
        errors.push(
            meta,
            "`#[serde(default)]` on the type also sets the defaults of fields without `#[default(..)]`; move it to \
             the fields that need it",
        );
    }
}

/// Only a field with a name can be absent and have a default.
fn check_field_names(input: &mut DeriveInput, errors: &mut Errors) {
    for attr in take(&mut input.attrs) {
        errors.push(attr, "`#[default(..)]` applies to a field; move it there");
    }
    let found = match &mut input.data {
        Data::Struct(data) => match &mut data.fields {
            Fields::Named(_) => return,
            Fields::Unnamed(fields) => {
                fields.unnamed.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
                "a tuple struct"
            }
            Fields::Unit => "a unit struct",
        },
        Data::Enum(data) => {
            data.variants.iter_mut().for_each(|variant| check_variant_fields(variant, errors));
            return;
        }
        Data::Union(data) => {
            data.fields.named.iter_mut().for_each(|field| drop(take(&mut field.attrs)));
            "a union"
        }
    };
    errors.push(
        &input.ident,
        format_args!(
            "`#[kubewright::defaults]` requires named fields, but this is {found}; use a struct with named fields"
        ),
    );
}

fn check_variant_fields(variant: &mut syn::Variant, errors: &mut Errors) {
    // Without a value it is the attribute of std's derive, which marks the default variant.
    let is_std = |attr: &Attribute| matches!(attr.meta, Meta::Path(_));
    for attr in attr::named("default", &variant.attrs).filter(|attr| !is_std(attr)) {
        errors.push(attr, "`#[default(..)]` applies to a field; move it there");
    }
    variant.attrs.retain(|attr| !attr.path().is_ident("default") || is_std(attr));
    if let Fields::Unnamed(fields) = &mut variant.fields {
        for attr in fields.unnamed.iter_mut().flat_map(|field| take(&mut field.attrs)) {
            errors.push(attr, "a field without a name has no default, because it is never absent; give it a name");
        }
    }
}

/// Returns the named fields, each with its variant.
pub(super) fn named_fields(data: &mut Data) -> Vec<(Option<Ident>, &mut Field)> {
    let parts: Vec<(Option<Ident>, &mut Fields)> = match data {
        Data::Struct(data) => vec![(None, &mut data.fields)],
        Data::Enum(data) => data.variants.iter_mut().map(|v| (Some(v.ident.clone()), &mut v.fields)).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut named = Vec::new();
    for (variant, fields) in parts {
        if let Fields::Named(fields) = fields {
            named.extend(fields.named.iter_mut().map(|field| (variant.clone(), field)));
        }
    }
    named
}

fn parse_field(variant: Option<Ident>, field: &mut Field, errors: &mut Errors) -> Option<FieldDefault> {
    field.attrs.retain(|attr| check_cfg_attr(attr, errors));
    let mut attributes = take(&mut field.attrs).into_iter();
    let first = attributes.next()?;
    for attr in attributes {
        errors.push(attr, "duplicate default of this field; keep one");
    }
    for reader in ["serde", "schemars"] {
        check_conflicts(reader, &field.attrs, errors);
    }
    let cfgs = attr::named("cfg", &field.attrs).cloned().collect();
    let value = value(&first, errors)?;
    Some(FieldDefault { variant, field: field.ident.clone()?, ty: field.ty.clone(), cfgs, value })
}

/// Rejects `#[default(..)]` inside a `cfg_attr` of a field, which is not yet expanded here.
fn check_cfg_attr(attr: &Attribute, errors: &mut Errors) -> bool {
    let inside =
        attr::keys("cfg_attr", std::slice::from_ref(attr)).into_iter().find(|meta| meta.path().is_ident("default"));
    if let Some(default) = &inside {
        errors.push(default, "a default cannot depend on a `cfg_attr`; move it out, or use `#[cfg(..)]` on two fields");
    }
    inside.is_none()
}

fn check_conflicts(reader: &str, attrs: &[Attribute], errors: &mut Errors) {
    for meta in attr::keys(reader, attrs) {
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

/// Whether the path is that of std's derive of `Default`.
fn is_default(path: &Path) -> bool {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    matches!(
        names.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ["Default"] | ["std" | "core", "default", "Default"]
    )
}

/// Removes `Default` from the derives, and returns whether it was present.
pub(super) fn take_default(attrs: &mut Vec<Attribute>) -> bool {
    !take_derives(attrs, is_default).is_empty()
}

/// Removes and returns the derives with a matching path.
fn take_derives(attrs: &mut Vec<Attribute>, is_match: fn(&Path) -> bool) -> Vec<Path> {
    let mut taken = Vec::new();
    attrs.retain_mut(|attr| {
        if !attr.path().is_ident("derive") {
            return true;
        }
        let (matching, others): (Vec<_>, Vec<_>) = derives(std::slice::from_ref(attr)).into_iter().partition(is_match);
        if !matching.is_empty() {
            *attr = syn::parse_quote!(#[derive(#(#others),*)]);
        }
        taken.extend(matching);
        !others.is_empty()
    });
    taken
}

/// Rejects derives of serde's traits on a kind or a list, and removes them to prevent follow-up errors.
fn check_serde_derives(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    let derived = derives(attrs);
    let is_derived = |name: &&str| derived.iter().any(|path| is_named(path, name));
    let Some(derive) = ["ApiObject", "Object", "ObjectList"].into_iter().find(is_derived) else { return };
    for path in take_derives(attrs, is_serde_derive) {
        errors.push(&path, serde_conflict(derive, &path));
    }
}

/// Removes and returns the attributes `#[default]`.
fn take(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    attrs.extract_if(.., |attr| attr.path().is_ident("default")).collect()
}
