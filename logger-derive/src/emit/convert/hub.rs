//! Emits the fields and variants of a type of the hub.

use proc_macro2::TokenStream;
use quote::quote;

use super::pair::{name_hash, tagging};
use crate::{
    emit::located_at,
    model::{ConvertBody, ConvertField, ConvertType, ConvertVariant, Payload},
};

pub(super) fn emit(model: &ConvertType) -> TokenStream {
    let (ident, krate) = (&model.ident, &model.krate);
    let fields = fields(model);
    let names = fields.iter().map(|(name, _)| quote!(#krate::conversion::plan::HubField { name: #name }));
    let variants = model.variants().iter().map(|variant| emit_variant(variant, krate));
    let tagging = tagging(&model.serde.tagging(), krate);
    let impls = fields.iter().map(|(name, field)| emit_field(model, name, field));
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
fn fields(model: &ConvertType) -> Vec<(String, &ConvertField)> {
    match &model.body {
        ConvertBody::Struct(fields) => fields.iter().map(|field| (field.name.clone(), field)).collect(),
        ConvertBody::Newtype(field) => vec![(field.name.clone(), field.as_ref())],
        ConvertBody::Enum(variants) => {
            let pairs = variants.iter().flat_map(|variant| variant.fields().iter().map(move |field| (variant, field)));
            pairs.map(|(variant, field)| (format!("{}.{}", variant.name, field.name), field)).collect()
        }
        ConvertBody::Skipped | ConvertBody::Tuple | ConvertBody::Union => Vec::new(),
    }
}

fn emit_field(model: &ConvertType, name: &str, field: &ConvertField) -> TokenStream {
    let (ident, krate, ty, json) = (&model.ident, &model.krate, &field.ty, &field.json);
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
