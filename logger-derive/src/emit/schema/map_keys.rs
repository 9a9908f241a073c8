//! Compile-time checks of map keys: JSON object keys are strings.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Data, DeriveInput, Fields, Type, spanned::Spanned};

use super::self_type::params;
use crate::model::{
    SchemaField, SchemaType,
    rust_type::{map_keys, mentions},
};

/// Emits the checks of all maps in the fields, and for a type that is not a string in JSON the marker that rejects it
/// as a key.
pub(super) fn emit(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> TokenStream {
    let checks = model.fields().flat_map(|field| checks(input, field, krate));
    let marker = is_object(input, model).then(|| {
        let ident = &input.ident;
        let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #impl_generics #krate::schema::NotMapKey for #ident #ty_generics #where_clause {}
        }
    });
    quote!(#marker #(#checks)*)
}

fn checks(input: &DeriveInput, field: &SchemaField, krate: &TokenStream) -> Vec<TokenStream> {
    let place = field.ident.as_ref().map_or_else(String::new, |ident| format!(" of field `{ident}`"));
    let message = format!(
        "invalid map key{place}: the keys of JSON objects are strings; use `String`, an integer, or an enum without data"
    );
    if field.serde.has_any(&["skip", "skip_serializing", "with", "serialize_with"]) {
        return Vec::new();
    }
    let is_generic = |key: &Type| params(input).any(|param| mentions(key.to_token_stream(), param));
    let check = |key: &&Type| {
        quote_spanned! {Span::call_site().located_at(key.span())=>
            const _: () = {
                #[allow(unused_imports)]
                use #krate::schema::DefaultMapKey as _;
                ::core::assert!(#krate::schema::MapKey::<#key>::IS_VALID, #message);
            };
        }
    };
    map_keys(&field.ty).iter().filter(|key| !is_generic(key)).map(check).collect()
}

/// Whether the JSON encoding is an object: that of a struct with named fields, or of an enum with data. serde
/// attributes can change the encoding.
fn is_object(input: &DeriveInput, model: &SchemaType) -> bool {
    let has_data = match &input.data {
        Data::Struct(data) => matches!(data.fields, Fields::Named(_)),
        Data::Enum(data) => data.variants.iter().any(|variant| !matches!(variant.fields, Fields::Unit)),
        Data::Union(_) => false,
    };
    has_data && !model.serde.has_other_encoding() && !model.serde.has_any(&["untagged", "remote"])
}
