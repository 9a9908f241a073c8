//! Emits the fields and variants of a type of the hub.

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    model::{Body, ConvertField, ConvertType, ConvertVariant, Payload},
    name_hash,
};
use crate::apply::located_at;

pub(super) fn emit(of: &ConvertType) -> TokenStream {
    let (ident, krate) = (&of.ident, &of.krate);
    let fields = fields(of);
    let names = fields.iter().map(|(name, _)| quote!(#krate::conversion::plan::HubField { name: #name }));
    let variants: &[ConvertVariant] = match &of.body {
        Body::Struct(_) | Body::Newtype(_) => &[],
        Body::Enum(variants) => variants,
    };
    let variants = variants.iter().map(|variant| emit_variant(variant, krate));
    let tagging = of.json.tagging.emit(krate);
    let impls = fields.iter().map(|(name, field)| emit_field(of, name, field));
    quote! {
        #[automatically_derived]
        impl #krate::conversion::Hub for #ident {
            const FIELDS: &'static [#krate::conversion::plan::HubField] = &[#(#names),*];
            const VARIANTS: &'static [#krate::conversion::plan::HubVariant] = &[#(#variants),*];
            const TAGGING: #krate::conversion::plan::Tagging = #tagging;
        }
        #(#impls)*
    }
}

/// Returns all fields; those of a variant are named `Variant.field`.
fn fields(of: &ConvertType) -> Vec<(String, &ConvertField)> {
    match &of.body {
        Body::Struct(fields) => fields.iter().map(|field| (field.name.clone(), field)).collect(),
        Body::Newtype(field) => vec![(field.name.clone(), field.as_ref())],
        Body::Enum(variants) => {
            let pairs = variants.iter().flat_map(|variant| variant.fields().iter().map(move |field| (variant, field)));
            pairs.map(|(variant, field)| (format!("{}.{}", variant.name, field.name), field)).collect()
        }
    }
}

fn emit_field(of: &ConvertType, name: &str, field: &ConvertField) -> TokenStream {
    let (ident, krate, ty, json) = (&of.ident, &of.krate, &field.ty, &field.json);
    let (hash, may_be_absent, flatten) = (name_hash(name), field.may_be_absent, field.flatten);
    let implementation = quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #krate::conversion::HubField<#hash> for #ident {
            type Value = #ty;
            const JSON: &'static ::core::primitive::str = #json;
            const MAY_BE_ABSENT: ::core::primitive::bool = #may_be_absent;
            const FLATTEN: ::core::primitive::bool = #flatten;
        }
    };
    located_at(implementation, field.span)
}

fn emit_variant(variant: &ConvertVariant, krate: &TokenStream) -> TokenStream {
    let ConvertVariant { name, json, payload, .. } = variant;
    let is_unit = matches!(payload, Payload::Unit);
    quote!(#krate::conversion::plan::HubVariant { name: #name, json: #json, is_unit: #is_unit })
}
