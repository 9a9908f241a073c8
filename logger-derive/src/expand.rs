//! `#[derive(ApiType)]` and `#[derive(ApiObject)]`: several derives of one type, with one report of their errors.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Field, Fields};

use crate::{
    apply,
    attr::{self, convert::is_converted},
    check, crate_path, deep_copy,
    emit::{self, in_const_block, placeholder, root::root_type},
    errors::{Errors, Expanded},
    model::{ConvertType, Kind, List, SchemaType},
};

/// Expands one derive, with the path of `kubewright_core`.
pub(crate) type Derive = fn(&DeriveInput, &TokenStream) -> Expanded;

/// The derives of every type in a kind.
const PARTS: [Derive; 3] = [schema, deep_copy::derive, apply::derive];

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
            expand(input, &[&[object_with_list as Derive, check_convert][..], &PARTS, convert_part(input)].concat())
        }
        false => expand(input, &[object_with_list, schema, deep_copy::derive]),
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
    if is_converted(&input.attrs) { &[convert] } else { &[] }
}

/// Expands `#[derive(Object)]`. All errors are reported at once.
pub(crate) fn object(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "Object", krate, &mut errors);
    check::kind(&kind, &mut errors);
    let impls = kind_impls(&kind, errors.is_empty(), root_type(&kind.root, quote!(Kind(API_KIND)), None));
    Expanded { errors, items: impls }
}

/// Expands the part of `#[derive(ApiObject)]` that is `Object`, and the list of the kind.
fn object_with_list(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "ApiObject", krate, &mut errors);
    check::kind(&kind, &mut errors);
    let is_accepted = errors.is_empty();
    let (root_type, list) = match &kind.k8s.list {
        Some(list) => (root_type(&kind.root, quote!(Kind(API_KIND)), None), emit::kind::assert_list(&kind, list)),
        // A generic kind is rejected.
        None if kind.root.is_generic() => (TokenStream::new(), TokenStream::new()),
        None => {
            let list = kind.list_name();
            let meta = quote!(KindWithList(API_KIND, <#list as #krate::KindList>::API_LIST));
            (root_type(&kind.root, meta, Some(&list)), emit::generated_list::emit(input, &kind, !is_accepted))
        }
    };
    let impls = kind_impls(&kind, is_accepted, root_type);
    Expanded { errors, items: quote!(#impls #list) }
}

/// Expands `#[derive(ObjectList)]`. All errors are reported at once.
pub(crate) fn object_list(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let list = List::parse(input, krate, &mut errors);
    check::list(&list, &mut errors);
    let items = match errors.is_empty() {
        true => in_const_block(emit::list::emit(&list)),
        false => placeholder::list(&list),
    };
    Expanded { errors, items }
}

/// Expands `#[derive(CrdSchema)]`. All errors are reported at once.
pub(crate) fn schema(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = SchemaType::parse(input, &mut errors);
    check::schema(&model, &mut errors);
    let items = match errors.is_empty() {
        true => emit::schema::emit(input, &model, krate),
        false => emit::schema::placeholder(input, krate),
    };
    Expanded { errors, items }
}

/// Expands `#[derive(Convert)]`. All errors are reported at once.
pub(crate) fn convert(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = ConvertType::parse(input, krate, &mut errors);
    check::convert(&model, &mut errors);
    let items = match model.is_convertible() {
        true => emit::convert::emit(&model, !errors.is_empty()),
        false => TokenStream::new(),
    };
    Expanded { errors, items }
}

fn kind_impls(kind: &Kind, is_accepted: bool, root_type: TokenStream) -> TokenStream {
    match is_accepted {
        true => {
            let impls = emit::kind::emit(kind);
            in_const_block(quote!(#impls #root_type))
        }
        false => placeholder::kind(kind),
    }
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
