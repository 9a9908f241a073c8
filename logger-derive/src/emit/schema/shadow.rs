//! The shadow of a type, to which schemars' derive is applied: a copy with the attributes that schemars reads.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Expr, Meta, ext::IdentExt, parse_quote};

use super::{
    defaults,
    keywords::{field_keywords, type_schema},
    self_type::{fields_mut, self_type, without_self},
};
use crate::{
    attr::{self, docs::docs, serde::has_serde_key},
    model::SchemaType,
};

/// Returns the shadow, and the functions that its attributes refer to.
pub(super) fn emit(
    input: &DeriveInput,
    name: Ident,
    model: &SchemaType,
    krate: &TokenStream,
) -> (DeriveInput, Option<TokenStream>) {
    let mut shadow = DeriveInput { ident: name, vis: syn::Visibility::Inherited, ..input.clone() };
    let self_type = self_type(input);
    for (field, schema) in fields_mut(&mut shadow.data).into_iter().zip(model.fields()) {
        retain_schemars_attributes(&mut field.attrs, krate);
        field.ty =
            syn::parse2(without_self(field.ty.to_token_stream(), &self_type)).unwrap_or_else(|_| field.ty.clone());
        if let Some(keywords) = field_keywords(schema, krate) {
            field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::FieldSchema(#keywords))]));
        }
    }
    if let Data::Enum(data) = &mut shadow.data {
        data.variants.iter_mut().for_each(|variant| retain_schemars_attributes(&mut variant.attrs, krate));
    }
    retain_schemars_attributes(&mut shadow.attrs, krate);
    let functions = defaults::transfer(input, &mut shadow, krate);
    if attr::key("schemars", "rename", &input.attrs).is_none() && !has_serde_key(&input.attrs, "rename") {
        let name = schema_name(input);
        shadow.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
    let (path, schema) = (quote!(#krate::schemars).to_string(), type_schema(model, krate));
    shadow.attrs.push(parse_quote!(#[schemars(crate = #path, transform = #schema)]));
    (shadow, functions)
}

/// Returns the schema name that schemars' derive would give the type itself.
fn schema_name(input: &DeriveInput) -> String {
    let parameters: Vec<String> =
        input.generics.type_params().map(|parameter| format!("{{{}}}", parameter.ident)).collect();
    let name = input.ident.unraw();
    match parameters.is_empty() {
        true => name.to_string(),
        false => format!("{name}_for_{}", parameters.join("_and_")),
    }
}

/// Retains the attributes of schemars' derive. The doc comment becomes the description: schemars would use a first line
/// with a `#` as the title, and retain the stars of block comments.
fn retain_schemars_attributes(attrs: &mut Vec<Attribute>, krate: &TokenStream) {
    const SCHEMARS: [&str; 4] = ["serde", "schemars", "validate", "garde"];
    let description = description(attrs, krate);
    attrs.retain(|attr| SCHEMARS.iter().any(|name| attr.path().is_ident(name)));
    attrs.extend(description);
}

/// Returns the attribute for the description of a doc comment, unless there is one.
fn description(attrs: &[Attribute], krate: &TokenStream) -> Option<Attribute> {
    let has_docs = attr::named("doc", attrs).any(|attr| matches!(attr.meta, Meta::NameValue(_)));
    if !has_docs || attr::key("schemars", "description", attrs).is_some() {
        return None;
    }
    let docs = docs(attrs);
    Some(match syn::parse2::<Expr>(docs.clone()) {
        Ok(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => {
            let text = text.value();
            let text = text.trim();
            parse_quote!(#[schemars(description = #text)])
        }
        _ => parse_quote!(#[schemars(description = #krate::schema::description(#docs))]),
    })
}
