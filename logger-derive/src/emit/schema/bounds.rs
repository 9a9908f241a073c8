//! The assertion that the types of fields have schemas, whose message is better than that of schemars.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Field, spanned::Spanned};

use super::self_type::{params, self_type, without_self};
use crate::{
    attr::{
        schemars::{self, has_other_schema},
        serde::is_skipped,
    },
    model::{SchemaType, SerdeItem, rust_type::mentions},
};

/// Emits the assertion for the fields whose schema is that of their type.
pub(super) fn emit(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> TokenStream {
    if model.serde.first().is_some_and(SerdeItem::is_other_type) {
        return TokenStream::new();
    }
    let self_type = self_type(input);
    let is_generic = |ty: &TokenStream| params(input).any(|param| mentions(ty.clone(), param));
    let types = fields(input).into_iter().filter_map(|field| {
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
fn fields(input: &DeriveInput) -> Vec<&Field> {
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter().filter(|variant| has_schema_of_type(&variant.attrs));
            variants.flat_map(|variant| &variant.fields).collect()
        }
        Data::Union(_) => Vec::new(),
    };
    fields.into_iter().filter(|field| has_schema_of_type(&field.attrs)).collect()
}

/// Whether the schema of a field or a variant is that of its type or types.
fn has_schema_of_type(attrs: &[Attribute]) -> bool {
    let is_removed = schemars::keys(attrs).iter().any(|key| key.path.is_ident("skip"));
    !is_removed && !has_other_schema(attrs) && !is_skipped(attrs)
}
