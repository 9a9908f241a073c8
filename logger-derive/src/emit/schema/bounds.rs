//! The assertion that the types of fields have schemas, whose message is better than that of schemars.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, Field, spanned::Spanned};

use super::self_type::{params, self_type, without_self};
use crate::{
    attr::{
        schemars,
        serde::{has_serde_key, is_skipped},
    },
    model::rust_type::mentions,
};

/// Emits the assertion for the fields whose schema is that of their type.
pub(super) fn emit(input: &DeriveInput, fields: &[&Field], krate: &TokenStream) -> TokenStream {
    let self_type = self_type(input);
    let is_generic = |ty: &TokenStream| params(input).any(|param| mentions(ty.clone(), param));
    let types = fields.iter().filter(|field| has_schema_of_type(field)).filter_map(|field| {
        let ty = without_self(field.ty.to_token_stream(), &self_type);
        let at = Span::call_site().located_at(field.ty.span());
        (!is_generic(&ty)).then(|| quote_spanned!(at=> assert_schema::<#ty>();))
    });
    let assertions: Vec<TokenStream> = types.collect();
    if assertions.is_empty() {
        return TokenStream::new();
    }
    quote! {
        const _: fn() = || {
            fn assert_schema<T: #krate::schema::HasSchema + ?::core::marker::Sized>() {}
            #(#assertions)*
        };
    }
}

fn has_schema_of_type(field: &Field) -> bool {
    let schemars = schemars::keys(&field.attrs);
    let is_replaced =
        ["with", "schema_with", "skip"].iter().any(|key| schemars.iter().any(|known| known.path.is_ident(key)));
    !is_replaced && !is_skipped(&field.attrs) && !has_serde_key(&field.attrs, "with")
}
