//! What a type and its shadow have in common: the fields, and what `Self` is.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;
use syn::{Data, DeriveInput, Field, GenericParam, Ident};

/// Returns the type with its parameters.
pub(super) fn self_type(input: &DeriveInput) -> TokenStream {
    let (ident, (_, ty_generics, _)) = (&input.ident, input.generics.split_for_impl());
    quote!(#ident #ty_generics)
}

/// Returns the names of its parameters.
pub(super) fn params(input: &DeriveInput) -> impl Iterator<Item = &Ident> {
    input.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(param) => &param.lifetime.ident,
        GenericParam::Type(param) => &param.ident,
        GenericParam::Const(param) => &param.ident,
    })
}

/// Replaces `Self`, which is the shadow inside of its impls, by the type.
pub(super) fn without_self(tokens: TokenStream, self_type: &TokenStream) -> TokenStream {
    let replace = |token: TokenTree| match token {
        TokenTree::Ident(ident) if ident == "Self" => quote!(#self_type),
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), without_self(group.stream(), self_type));
            inside.set_span(group.span());
            TokenTree::Group(inside).into()
        }
        other => other.into(),
    };
    tokens.into_iter().map(replace).collect()
}

/// Returns all fields, those of an enum by variant.
pub(super) fn fields_mut(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut()).collect(),
        Data::Union(_) => Vec::new(),
    }
}
