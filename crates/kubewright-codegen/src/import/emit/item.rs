//! The types of a module other than kinds, and fields.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    super::{
        kubernetes,
        model::{Body, Docs, Field, Type},
        names,
    },
    attributes, default,
    docs::{self, DocAttributes},
    scope::Scope,
};
use crate::names::{has_snake_case_words, ident, snake_case};

/// Returns a type, and the functions of its defaults.
pub(super) fn item(i: usize, scope: &Scope<'_>) -> Vec<TokenStream> {
    let item = &scope.types.items[i];
    let name = &scope.items[i];
    let DocAttributes { docs, helpers } = item_docs(&item.docs);
    let schema = attributes::of_type(&item.attributes);
    let default = scope.types.has_default(i).then(|| quote!(Default,));
    let api_type = scope.path("kubewright_core::ApiType");
    let [deserialize, serialize] = ["Deserialize", "Serialize"].map(|name| scope.path(&format!("serde::{name}")));
    let derives = quote! {
        #[derive(Clone, Debug, #default PartialEq, #deserialize, #serialize, #api_type)]
    };
    match &item.body {
        Body::Struct { .. } => {
            let Fields { fields, functions, defaults, camel_case } = fields(i, scope);
            let camel_case = camel_case.then(|| quote!(#[serde(rename_all = "camelCase")]));
            let of_struct = quote! {
                #(#docs)* #defaults #derives #(#helpers)* #camel_case #(#schema)*
                pub struct #name { #(#fields)* }
            };
            std::iter::once(of_struct).chain(functions).collect()
        }
        Body::StringEnum(words) => {
            let variants = words.iter().map(|word| named_variant(word));
            vec![quote! {
                #(#docs)*
                #[derive(Clone, Copy, Debug, PartialEq, Eq, #deserialize, #serialize, #api_type)]
                #(#helpers)* #(#schema)*
                pub enum #name { #(#variants,)* }
            }]
        }
        Body::Union(variants) => {
            let variants = variants.iter().map(|variant| {
                let DocAttributes { docs, helpers } = variant.docs.as_deref().map(docs::attributes).unwrap_or_default();
                let (variant_name, ty) = (named_variant(&variant.json), scope.ty(&variant.ty));
                quote!(#(#docs)* #(#helpers)* #variant_name(#ty))
            });
            vec![quote!(#(#docs)* #derives #(#helpers)* #(#schema)* pub enum #name { #(#variants,)* })]
        }
        Body::Newtype(ty) => {
            let ty = scope.ty(ty);
            vec![quote!(#(#docs)* #derives #(#helpers)* #(#schema)* pub struct #name(pub #ty);)]
        }
    }
}

/// Returns the doc attributes of a type.
pub(super) fn item_docs(docs: &Docs) -> DocAttributes {
    match docs {
        Docs::Exact(docs) => docs.as_deref().map(docs::attributes).unwrap_or_default(),
        Docs::Informative(docs) => docs::attributes(docs),
    }
}

/// Returns a variant with this JSON name.
fn named_variant(word: &str) -> TokenStream {
    let name = names::variant(word);
    let rename = (name != word).then(|| quote!(#[serde(rename = #word)]));
    let name = ident(&name);
    quote!(#rename #name)
}

/// The fields of a struct.
pub(super) struct Fields {
    pub(super) fields: Vec<TokenStream>,
    /// The functions of their defaults.
    pub(super) functions: Vec<TokenStream>,
    /// `#[kubewright_core::defaults]`, if one of them has a default.
    pub(super) defaults: Option<TokenStream>,
    /// Whether their JSON names are their Rust names in camel case.
    pub(super) camel_case: bool,
}

pub(super) fn fields(i: usize, scope: &Scope<'_>) -> Fields {
    let Body::Struct { fields, open } = &scope.types.items[i].body else {
        return Fields { fields: Vec::new(), functions: Vec::new(), defaults: None, camel_case: false };
    };
    let rust_name = |field: &Field| scope.field(i, &field.json).to_string().trim_start_matches("r#").to_owned();
    let camel_case = fields.iter().any(|field| {
        let name = rust_name(field);
        name != field.json && names::in_camel_case(&name) == field.json
    });
    let (mut emitted, mut functions) = (Vec::new(), Vec::new());
    for field in fields {
        let name = rust_name(field);
        let json_name = if camel_case { names::in_camel_case(&name) } else { name };
        // The generator warns about names in snake case that are not explicit.
        let is_explicit = camel_case || !has_snake_case_words(&field.json);
        let rename = (json_name != field.json || !is_explicit).then(|| {
            let json = &field.json;
            quote!(#[serde(rename = #json)])
        });
        emitted.push(of_field(i, field, &rename, scope, &mut functions));
    }
    if *open {
        let other = scope.other(i);
        let [map, string, value] =
            ["std::collections::BTreeMap", "std::string::String", "serde_json::Value"].map(|path| scope.path(path));
        emitted.push(quote! {
            #[doc = " Unknown fields."]
            #[serde(flatten)]
            pub #other: #map<#string, #value>,
        });
    }
    let has_defaults = fields.iter().any(|field| field.default.is_some());
    let defaults = has_defaults.then(|| quote!(#[kubewright_core::defaults]));
    Fields { fields: emitted, functions, defaults, camel_case }
}

fn of_field(
    i: usize,
    field: &Field,
    rename: &Option<TokenStream>,
    scope: &Scope<'_>,
    functions: &mut Vec<TokenStream>,
) -> TokenStream {
    let default = of_default(i, field, scope, functions);
    let DocAttributes { docs, helpers } = field.docs.as_deref().map(docs::attributes).unwrap_or_default();
    let is_optional = scope.is_optional(i, field);
    let mut attributes = field.attributes.clone();
    let may_be_absent = field.default.is_some() || is_optional;
    // A `Nullable` without a default is required, and can be null. A `None` is absent.
    let is_nullable = field.required && field.default.is_none() && attributes.flags.remove("nullable");
    attributes.flags.extend((field.required && may_be_absent && !is_nullable).then_some("required"));
    let schema = attributes::of_field(&attributes, &field.overrides);
    let (name, ty) = (scope.field(i, &field.json), scope.ty(&field.ty));
    let option = scope.path("std::option::Option");
    let wrapped = |ty: TokenStream| {
        if is_nullable {
            quote!(kubewright_core::Nullable<#ty>)
        } else if is_optional {
            quote!(#option<#ty>)
        } else {
            ty
        }
    };
    let ty = wrapped(ty);
    let with = (field.ty == Type::Kubernetes(&kubernetes::BYTES)).then(|| {
        let with = wrapped(scope.path("std::string::String"));
        let with = with.to_string().replace(' ', "");
        quote!(#[schemars(with = #with)])
    });
    let atomic = is_atomic(&field.ty).then(|| quote!(#[apply(atomic)]));
    quote!(#(#docs)* #rename #default #with #atomic #(#helpers)* #(#schema)* pub #name: #ty,)
}

/// Whether the type is applied atomically.
fn is_atomic(ty: &Type) -> bool {
    match ty {
        Type::Kubernetes(known) => known.atomic,
        Type::List(ty) | Type::Map(ty) => is_atomic(ty),
        _ => false,
    }
}

/// Returns `#[default(..)]`, and adds the function that it names if there is one.
fn of_default(i: usize, field: &Field, scope: &Scope<'_>, functions: &mut Vec<TokenStream>) -> Option<TokenStream> {
    let value = field.default.as_ref()?;
    if let Some(literal) = default::literal(value, &field.ty, scope) {
        return Some(quote!(#[default(#literal)]));
    }
    let owner = scope.items[i].to_string();
    let field_name = scope.field(i, &field.json).to_string();
    let function = format_ident!("default_{}_{}", snake_case(&owner), field_name.trim_start_matches("r#"));
    let (ty, value) = (scope.ty(&field.ty), default::expression(value, &field.ty, scope));
    functions.push(quote!(fn #function() -> #ty { #value }));
    Some(quote!(#[default(with = #function)]))
}
