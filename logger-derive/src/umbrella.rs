//! `#[derive(ApiType)]` and `#[derive(ApiObject)]`: several derives of one type, with one report of their errors.

use proc_macro2::TokenStream;
use syn::{Attribute, Data, DeriveInput, Field, Fields};

use crate::{
    apply,
    attr::{self, convert::is_converted},
    convert, crate_path, deep_copy, emit,
    errors::{Errors, Expanded},
    schema,
};

/// Expands one derive, with the path of `kubewright_core`.
pub(crate) type Derive = fn(&DeriveInput, &TokenStream) -> Expanded;

/// The derives of every type in a kind.
const PARTS: [Derive; 3] = [schema::derive, deep_copy::derive, apply::derive];

/// Expands `#[derive(ApiType)]`.
pub(crate) fn api_type(input: &DeriveInput) -> TokenStream {
    expand(input, &[&[check_type as Derive][..], &PARTS, convert_part(input)].concat())
}

/// Expands `#[derive(ApiObject)]`.
pub(crate) fn api_object(input: &DeriveInput) -> TokenStream {
    // An apply configuration of a type that cannot be a kind would have other requirements.
    let is_struct = matches!(&input.data, Data::Struct(data) if matches!(data.fields, Fields::Named(_)));
    match is_struct {
        true => {
            expand(input, &[&[emit::api_object as Derive, check_convert][..], &PARTS, convert_part(input)].concat())
        }
        false => expand(input, &[emit::api_object, schema::derive, deep_copy::derive]),
    }
}

/// Expands derives of one type. The errors of all are reported at once, and an error that several find only once.
pub(crate) fn expand(input: &DeriveInput, derives: &[Derive]) -> TokenStream {
    let krate = match crate_path::of_type(&input.attrs) {
        Ok(krate) => krate,
        Err(error) => return error.into_compile_error(),
    };
    let mut all = Expanded::default();
    derives.iter().for_each(|derive| all.add(derive(input, &krate)));
    all.into_tokens()
}

/// Returns the derive of the conversion, if the type declares one.
fn convert_part(input: &DeriveInput) -> &'static [Derive] {
    if is_converted(&input.attrs) { &[convert::derive] } else { &[] }
}

/// Reports what a nested type cannot have. Precedes the other derives, whose own messages assume that they stand alone.
fn check_type(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut expanded = check_convert(input, krate);
    let errors = &mut expanded.errors;
    if !input.generics.params.is_empty() {
        let message = "`ApiType` does not support generic types: an apply configuration has one name; remove the \
                       parameters, or derive `DeepCopy` and `CrdSchema` in its place and use `#[apply(atomic)]` on the \
                       fields of this type";
        errors.push(&input.generics, message);
    }
    for name in ["genclient", "k8s", "policy"] {
        for attr in attrs(input).flat_map(|attrs| attr::named(name, attrs)) {
            errors.push(attr, format_args!("`#[{name}]` applies to kinds, which derive `ApiObject`; remove this"));
        }
    }
    expanded
}

/// Reports `#[convert(..)]` in a type that does not declare its conversion, where it would have no effect.
fn check_convert(input: &DeriveInput, _: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    if !is_converted(&input.attrs) {
        for attr in attrs(input).flat_map(|attrs| attr::named("convert", attrs)) {
            let message = "no effect without a conversion of the type; add `#[convert(hub)]` or `#[convert(hub = \
                           path::Type)]` to the type";
            errors.push(attr, message);
        }
    }
    Expanded { errors, items: TokenStream::new() }
}

/// Returns the attributes of the type, its variants and its fields.
fn attrs(input: &DeriveInput) -> impl Iterator<Item = &[Attribute]> {
    let (variants, fields): (Vec<_>, Vec<&Field>) = match &input.data {
        Data::Struct(data) => (Vec::new(), data.fields.iter().collect()),
        Data::Enum(data) => (
            data.variants.iter().map(|variant| variant.attrs.as_slice()).collect(),
            data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        ),
        Data::Union(_) => (Vec::new(), Vec::new()),
    };
    [input.attrs.as_slice()].into_iter().chain(variants).chain(fields.into_iter().map(|field| field.attrs.as_slice()))
}
