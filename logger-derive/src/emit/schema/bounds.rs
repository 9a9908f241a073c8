//! The assertion that the types of fields have schemas, whose message is better than that of schemars.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, spanned::Spanned};

use super::self_type::{params, self_type, without_self};
use crate::model::{SchemaField, SchemaType, rust_type::mentions};

/// Emits the assertion for the fields whose schema is that of their type.
pub(super) fn emit(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> TokenStream {
    if model.serde.is_other_type() {
        return TokenStream::new();
    }
    let self_type = self_type(input);
    let is_generic = |ty: &TokenStream| params(input).any(|param| mentions(ty.clone(), param));
    let types = fields(model).filter_map(|field| {
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

/// Returns the fields whose types schemars needs, unless the type is encoded as another one.
fn fields(model: &SchemaType) -> impl Iterator<Item = &SchemaField> {
    let lists = model.field_lists().iter().filter(|list| list.serde.has_schema_of_type());
    lists.flat_map(|list| &list.fields).filter(|field| field.serde.has_schema_of_type())
}
