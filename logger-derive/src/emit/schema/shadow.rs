//! The shadow of a type, to which schemars' derive is applied: a copy with the attributes that schemars reads.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DataEnum, DeriveInput, Expr, Meta, Variant, ext::IdentExt, parse_quote};

use super::{
    defaults,
    keywords::{field_keywords, type_schema},
    self_type::{fields_mut, self_type, without_self},
};
use crate::{
    attr::{
        self,
        docs::docs,
        schemars::remove_key,
        serde::{has_serde_key, remove_serde_key},
    },
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
        for variant in &mut data.variants {
            retain_schemars_attributes(&mut variant.attrs, krate);
            // That of an added variant would be a second one.
            variant.discriminant = None;
        }
        add_aliases(data, &input.attrs);
    }
    retain_schemars_attributes(&mut shadow.attrs, krate);
    let functions = defaults::transfer(input, &mut shadow, krate);
    // serde has no use for the name of a type.
    remove_serde_key(&mut shadow.attrs, "rename");
    if attr::key("schemars", "rename", &input.attrs).is_none() {
        let name = schema_name(input);
        shadow.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
    remove_key(&mut shadow.attrs, "crate");
    let (path, schema) = (quote!(#krate::schemars).to_string(), type_schema(model, krate));
    shadow.attrs.push(parse_quote!(#[schemars(crate = #path, transform = #schema)]));
    (shadow, functions)
}

/// Adds a variant for each other name with which a variant can be decoded.
fn add_aliases(data: &mut DataEnum, attrs: &[Attribute]) {
    let is_untagged = |variant: &Variant| has_serde_key(attrs, "untagged") || has_serde_key(&variant.attrs, "untagged");
    let mut aliases = Vec::new();
    for variant in data.variants.iter().filter(|variant| !is_untagged(variant)) {
        for alias in attr::keys("serde", &variant.attrs).iter().filter(|meta| meta.path().is_ident("alias")) {
            let Some(name) = alias.require_name_value().ok().and_then(attr::literal) else { continue };
            let ident = format_ident!("__{}_{}", variant.ident.unraw(), aliases.len());
            let mut variant = Variant { ident, ..variant.clone() };
            remove_serde_key(&mut variant.attrs, "rename");
            variant.attrs.push(parse_quote!(#[serde(rename = #name)]));
            aliases.push(variant);
        }
    }
    data.variants.extend(aliases);
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
