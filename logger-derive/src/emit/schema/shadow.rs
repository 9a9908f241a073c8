//! The shadow of a type, to which schemars' derive is applied: a copy with the attributes that schemars reads.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DataEnum, DeriveInput, Expr, ExprLit, Lit, Variant, ext::IdentExt, parse_quote};

use super::{
    defaults,
    keywords::{field_keywords, type_schema},
    self_type::{fields_mut, self_type, without_self},
};
use crate::{
    attr::schemars::remove_key,
    model::{SchemaType, SerdeAttrs},
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
        retain_schemars_attributes(&mut field.attrs, schema.description.as_ref(), krate);
        field.ty =
            syn::parse2(without_self(field.ty.to_token_stream(), &self_type)).unwrap_or_else(|_| field.ty.clone());
        if let Some(keywords) = field_keywords(schema, krate) {
            field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::FieldSchema(#keywords))]));
        }
        defaults::add_unserialized(field, schema, model, krate);
    }
    if let Data::Enum(data) = &mut shadow.data {
        for (variant, list) in data.variants.iter_mut().zip(model.field_lists()) {
            retain_schemars_attributes(&mut variant.attrs, list.description.as_ref(), krate);
            // That of an added variant would be a second one.
            variant.discriminant = None;
        }
        add_aliases(data, model);
    }
    retain_schemars_attributes(&mut shadow.attrs, model.description.as_ref(), krate);
    let functions = defaults::transfer(input, model, &mut shadow, krate);
    // serde has no use for the name of a type.
    remove_key("serde", "rename", &mut shadow.attrs);
    if !model.is_renamed {
        let name = schema_name(input);
        shadow.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
    remove_key("schemars", "crate", &mut shadow.attrs);
    let (path, schema) = (quote!(#krate::schemars).to_string(), type_schema(model, krate));
    shadow.attrs.push(parse_quote!(#[schemars(crate = #path, transform = #schema)]));
    (shadow, functions)
}

/// Adds a variant for each other name with which a variant can be decoded.
fn add_aliases(data: &mut DataEnum, model: &SchemaType) {
    let is_untagged = |serde: &SerdeAttrs| model.serde.has("untagged") || serde.has("untagged");
    let mut aliases = Vec::new();
    let variants = data.variants.iter().zip(model.field_lists());
    for (variant, list) in variants.filter(|(_, list)| !is_untagged(&list.serde)) {
        for name in list.serde.literals("alias") {
            let ident = format_ident!("__{}_{}", variant.ident.unraw(), aliases.len());
            let mut variant = Variant { ident, ..variant.clone() };
            remove_key("serde", "rename", &mut variant.attrs);
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
fn retain_schemars_attributes(attrs: &mut Vec<Attribute>, docs: Option<&Expr>, krate: &TokenStream) {
    const SCHEMARS: [&str; 4] = ["serde", "schemars", "validate", "garde"];
    attrs.retain(|attr| SCHEMARS.iter().any(|name| attr.path().is_ident(name)));
    attrs.extend(docs.map(|docs| description(docs, krate)));
}

/// Returns the attribute for the description of a doc comment.
fn description(docs: &Expr, krate: &TokenStream) -> Attribute {
    match docs {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            let text = text.value();
            let text = text.trim();
            parse_quote!(#[schemars(description = #text)])
        }
        docs => parse_quote!(#[schemars(description = #krate::schema::description(#docs))]),
    }
}
