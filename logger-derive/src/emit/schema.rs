//! Emits schemars' `JsonSchema`, with the schema keywords of `#[schema(..)]`.
//!
//! schemars' own derive is applied to a shadow of the type with the same serde and schemars attributes. The keywords
//! are constants that a schemars transform adds to its schema.

mod bounds;
mod defaults;
mod json;
mod keywords;
mod map_keys;
mod rules;
mod self_type;
mod shadow;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Ident, ext::IdentExt, parse_quote};

use crate::model::SchemaType;

/// Emits the impl of `JsonSchema` of a checked type.
pub(crate) fn emit(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> TokenStream {
    let shadow_name = format_ident!("__{}", input.ident.unraw());
    let implementation = implementation(input, model, &shadow_name, krate);
    let map_keys = map_keys::emit(input, model, krate);
    let bounds = bounds::emit(input, model, krate);
    let (shadow, functions) = shadow::emit(input, shadow_name, model, krate);
    quote! {
        // The impl of a deprecated type must not warn about its use.
        #[allow(deprecated)]
        const _: () = {
            #[allow(dead_code, non_camel_case_types, clippy::all, clippy::pedantic)]
            #[derive(#krate::schemars::JsonSchema)]
            #shadow
            #functions
            #implementation
            #map_keys
            #bounds
        };
    }
}

/// Emits the impl of the type itself, which calls that of its shadow.
fn implementation(input: &DeriveInput, model: &SchemaType, shadow: &Ident, krate: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    let names: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    let bounds = names.iter().map(|name| -> syn::WherePredicate { parse_quote!(#name: #krate::schemars::JsonSchema) });
    generics.make_where_clause().predicates.extend(bounds.chain(defaults::bounds(input, model, krate)));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let shadow = quote!(<#shadow #ty_generics as #krate::schemars::JsonSchema>);
    let path = quote!(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#ident), " ", ::core::line!()));
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::schemars::JsonSchema for #ident #ty_generics #where_clause {
            fn inline_schema() -> ::core::primitive::bool {
                #shadow::inline_schema()
            }
            fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                #shadow::schema_name()
            }
            fn schema_id() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                // Two types can have one name in schemars.
                ::std::borrow::Cow::Owned(::std::format!("{} {}", #path, #shadow::schema_id()))
            }
            fn json_schema(generator: &mut #krate::schemars::SchemaGenerator) -> #krate::schemars::Schema {
                #shadow::json_schema(generator)
            }
        }
    }
}

/// Emits an impl without a body for a rejected type, to prevent follow-up errors about a missing schema.
pub(crate) fn placeholder(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::schemars::JsonSchema for #ident #ty_generics #where_clause {
            fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::core::unreachable!()
            }
            fn json_schema(_: &mut #krate::schemars::SchemaGenerator) -> #krate::schemars::Schema {
                ::core::unreachable!()
            }
        }
    }
}
