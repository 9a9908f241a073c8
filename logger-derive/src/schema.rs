//! `#[derive(KubeSchema)]`: schemars' `JsonSchema`, with the facts that `#[schema(..)]` says beside it.
//!
//! schemars' own derive reads a twin of the type, which has its serde and schemars attributes. The facts come to its
//! schema as constants.

mod check;
mod facts;
pub(crate) mod read;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Field, Ident, parse_quote};

use crate::attr;
use crate::errors::Errors;
use crate::model::crate_path;
use read::Declared;

/// The impl of `JsonSchema`; every error at once.
pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let declared = Declared::parse(&input, &mut errors);
    let krate = crate_path(declared.facts.krate.as_ref());
    if !errors.is_empty() {
        let (errors, stand_in) = (errors.into_compile_errors(), stand_in(&input, &krate));
        return quote!(#errors #stand_in);
    }
    let twin_name = format_ident!("__{}", input.ident.unraw());
    let implementation = implementation(&input, &twin_name, &krate);
    let (twin, functions) = twin(&input, twin_name, &declared, &krate);
    quote! {
        // What is derived of a deprecated type is no use of it.
        #[allow(deprecated)]
        const _: () = {
            #[allow(dead_code, non_camel_case_types, clippy::all, clippy::pedantic)]
            #[derive(#krate::schemars::JsonSchema)]
            #twin
            #functions
            #implementation
        };
    }
}

/// The impl of the type itself, by that of its twin.
fn implementation(input: &DeriveInput, twin: &Ident, krate: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    let names: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    let bounds = names.iter().map(|name| -> syn::WherePredicate { parse_quote!(#name: #krate::schemars::JsonSchema) });
    generics.make_where_clause().predicates.extend(bounds);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let twin = quote!(<#twin #ty_generics as #krate::schemars::JsonSchema>);
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::schemars::JsonSchema for #ident #ty_generics #where_clause {
            fn inline_schema() -> ::core::primitive::bool {
                #twin::inline_schema()
            }
            fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                #twin::schema_name()
            }
            fn schema_id() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                #twin::schema_id()
            }
            fn json_schema(generator: &mut #krate::schemars::SchemaGenerator) -> #krate::schemars::Schema {
                #twin::json_schema(generator)
            }
        }
    }
}

/// So that a type whose attributes were refused is not told to have no schema, too.
fn stand_in(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
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

/// The copy of the type that schemars' derive reads, and the functions that its attributes name.
fn twin(
    input: &DeriveInput,
    name: Ident,
    declared: &Declared,
    krate: &TokenStream,
) -> (DeriveInput, Option<TokenStream>) {
    let mut twin = DeriveInput { ident: name, vis: syn::Visibility::Inherited, ..input.clone() };
    for (field, facts) in fields(&mut twin.data).into_iter().zip(&declared.fields) {
        keep_for_schemars(&mut field.attrs);
        if let Some(facts) = facts.of_field(krate) {
            field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::Field(#facts))]));
        }
    }
    if let Data::Enum(data) = &mut twin.data {
        data.variants.iter_mut().for_each(|variant| keep_for_schemars(&mut variant.attrs));
    }
    keep_for_schemars(&mut twin.attrs);
    let functions = has_default(&input.attrs).then(|| default_of_each_field(&mut twin, &input.ident));
    if attr::schemars_renames(&input.attrs).next().is_none() && !read::serde_says(&input.attrs, "rename") {
        let name = schema_name(input);
        twin.attrs.push(parse_quote!(#[schemars(rename = #name)]));
    }
    let (path, facts) = (quote!(#krate::schemars).to_string(), declared.of_type(&input.ident, krate));
    twin.attrs.push(parse_quote!(#[schemars(crate = #path, transform = #facts)]));
    (twin, functions)
}

/// The name that schemars' derive would give the type itself.
fn schema_name(input: &DeriveInput) -> String {
    let parameters: Vec<String> = input.generics.type_params().map(|of| format!("{{{}}}", of.ident)).collect();
    let name = input.ident.unraw();
    match parameters.is_empty() {
        true => name.to_string(),
        false => format!("{name}_for_{}", parameters.join("_and_")),
    }
}

/// serde's `default` on the type, which asks `Default` of it.
fn has_default(attrs: &[Attribute]) -> bool {
    read::serde_says(attrs, "default")
}

/// The twin has no `Default`: each field takes its own from that of the type.
fn default_of_each_field(twin: &mut DeriveInput, of: &Ident) -> TokenStream {
    twin.attrs.retain(|attr| !attr.path().is_ident("serde") || !has_default(std::slice::from_ref(attr)));
    let Data::Struct(data) = &mut twin.data else { return TokenStream::new() };
    let mut functions = TokenStream::new();
    for field in &mut data.fields {
        let (Some(ident), ty) = (&field.ident, &field.ty) else { continue };
        if ["default", "flatten", "skip"].iter().any(|word| read::serde_says(&field.attrs, word)) {
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

/// Leaves what schemars' derive reads.
fn keep_for_schemars(attrs: &mut Vec<Attribute>) {
    const READ: [&str; 5] = ["doc", "serde", "schemars", "validate", "garde"];
    attrs.retain(|attr| READ.iter().any(|name| attr.path().is_ident(name)));
}

/// Every field, those of all variants one after the other.
fn fields(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut()).collect(),
        Data::Union(_) => Vec::new(),
    }
}
