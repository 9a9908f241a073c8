//! `#[derive(CrdSchema)]`: schemars' `JsonSchema`, with the schema keywords of `#[schema(..)]`.
//!
//! schemars' own derive is applied to a shadow of the type with the same serde and schemars attributes. The keywords
//! are constants that a schemars transform adds to its schema.

mod check;
mod emit;
mod map_keys;
pub(crate) mod parse;
mod rules;
mod updates;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Field, Ident, ext::IdentExt, parse_quote};

use crate::{
    attr,
    errors::{Errors, Expanded},
};
use parse::SchemaType;

/// Expands to the impl of `JsonSchema`. All errors are reported at once.
pub(crate) fn derive(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let model = SchemaType::parse(input, &mut errors);
    let items = match errors.is_empty() {
        true => emit(input, &model, krate),
        false => placeholder(input, krate),
    };
    Expanded { errors, items }
}

fn emit(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> TokenStream {
    let shadow_name = format_ident!("__{}", input.ident.unraw());
    let implementation = implementation(input, &shadow_name, krate);
    let map_keys = map_keys::emit(input, &fields(&input.data), krate);
    let (shadow, functions) = shadow(input, shadow_name, model, krate);
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
        };
    }
}

/// Emits the impl of the type itself, which calls that of its shadow.
fn implementation(input: &DeriveInput, shadow: &Ident, krate: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    let names: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    let bounds = names.iter().map(|name| -> syn::WherePredicate { parse_quote!(#name: #krate::schemars::JsonSchema) });
    generics.make_where_clause().predicates.extend(bounds);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let shadow = quote!(<#shadow #ty_generics as #krate::schemars::JsonSchema>);
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
                #shadow::schema_id()
            }
            fn json_schema(generator: &mut #krate::schemars::SchemaGenerator) -> #krate::schemars::Schema {
                #shadow::json_schema(generator)
            }
        }
    }
}

/// Emits an impl without a body for a rejected type, to prevent follow-up errors about a missing schema.
fn placeholder(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
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

/// Returns the copy of the type for schemars' derive, and the functions that its attributes refer to.
fn shadow(
    input: &DeriveInput,
    name: Ident,
    model: &SchemaType,
    krate: &TokenStream,
) -> (DeriveInput, Option<TokenStream>) {
    let mut shadow = DeriveInput { ident: name, vis: syn::Visibility::Inherited, ..input.clone() };
    for (field, schema) in fields_mut(&mut shadow.data).into_iter().zip(&model.fields) {
        retain_schemars_attributes(&mut field.attrs);
        if let Some(keywords) = schema.keywords(krate) {
            field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::FieldSchema(#keywords))]));
        }
    }
    if let Data::Enum(data) = &mut shadow.data {
        data.variants.iter_mut().for_each(|variant| retain_schemars_attributes(&mut variant.attrs));
    }
    retain_schemars_attributes(&mut shadow.attrs);
    let functions = has_default(&input.attrs).then(|| field_defaults(&mut shadow, &input.ident));
    if attr::schemars_renames(&input.attrs).next().is_none() && !parse::has_serde_key(&input.attrs, "rename") {
        let name = schema_name(input);
        shadow.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
    let (path, schema) = (quote!(#krate::schemars).to_string(), model.type_schema(&input.ident, krate));
    shadow.attrs.push(parse_quote!(#[schemars(crate = #path, transform = #schema)]));
    (shadow, functions)
}

/// Returns the schema name that schemars' derive would give the type itself.
fn schema_name(input: &DeriveInput) -> String {
    let parameters: Vec<String> = input.generics.type_params().map(|of| format!("{{{}}}", of.ident)).collect();
    let name = input.ident.unraw();
    match parameters.is_empty() {
        true => name.to_string(),
        false => format!("{name}_for_{}", parameters.join("_and_")),
    }
}

/// Whether the type has `#[serde(default)]`, which requires its `Default`.
fn has_default(attrs: &[Attribute]) -> bool {
    parse::has_serde_key(attrs, "default")
}

/// Replaces `#[serde(default)]` on the type by defaults of its fields, because the shadow has no `Default`.
fn field_defaults(shadow: &mut DeriveInput, of: &Ident) -> TokenStream {
    shadow.attrs.retain(|attr| !attr.path().is_ident("serde") || !has_default(std::slice::from_ref(attr)));
    let Data::Struct(data) = &mut shadow.data else { return TokenStream::new() };
    let mut functions = TokenStream::new();
    for field in &mut data.fields {
        let (Some(ident), ty) = (&field.ident, &field.ty) else { continue };
        if ["default", "flatten", "skip"].iter().any(|key| parse::has_serde_key(&field.attrs, key)) {
            continue;
        }
        let function = format_ident!("__default_{}", ident.unraw());
        let path = function.to_string();
        functions.extend(quote! {
            fn #function() -> #ty {
                <#of as ::core::default::Default>::default().#ident
            }
        });
        field.attrs.push(parse_quote!(#[serde(default = #path)]));
    }
    functions
}

/// Retains the attributes of schemars' derive.
fn retain_schemars_attributes(attrs: &mut Vec<Attribute>) {
    const SCHEMARS: [&str; 5] = ["doc", "serde", "schemars", "validate", "garde"];
    attrs.retain(|attr| SCHEMARS.iter().any(|name| attr.path().is_ident(name)));
}

/// Returns all fields, those of an enum by variant.
fn fields(data: &Data) -> Vec<&Field> {
    match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| variant.fields.iter()).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// Returns all fields, those of an enum by variant.
fn fields_mut(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut()).collect(),
        Data::Union(_) => Vec::new(),
    }
}
