//! The defaults of fields in the schema, which are those of decoding.

use darling::FromMeta;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Field, Meta, WherePredicate, ext::IdentExt, parse_quote};

use super::self_type::{fields_mut, self_type, without_self};
use crate::attr::{
    self,
    serde::{SerdeDefault, has_serde_key, is_skipped, remove_serde_key},
};

/// Moves the default of a type to its fields, because the shadow has no `Default`. Returns the functions of the
/// defaults.
pub(super) fn transfer(input: &DeriveInput, shadow: &mut DeriveInput, krate: &TokenStream) -> Option<TokenStream> {
    let default = container_default(&input.attrs);
    remove_serde_key(&mut shadow.attrs, "default");
    for field in fields_mut(&mut shadow.data) {
        add_unserialized_default(field, default.is_some(), krate);
    }
    let default = default?;
    shadow.generics.make_where_clause().predicates.extend(bounds(input, krate));
    let self_type = self_type(input);
    let value = match default {
        SerdeDefault::OfType => quote!(<#self_type as ::core::default::Default>::default()),
        SerdeDefault::With(path) => {
            let path = without_self(path.to_token_stream(), &self_type);
            quote!(#path())
        }
    };
    let (impl_generics, ty_generics, where_clause) = shadow.generics.split_for_impl();
    let (name, arguments) = (&shadow.ident, ty_generics.as_turbofish());
    let Data::Struct(data) = &mut shadow.data else { return None };
    let mut functions = TokenStream::new();
    for field in data.fields.iter_mut().filter(|field| takes_container_default(field)) {
        let (Some(ident), ty) = (&field.ident, &field.ty) else { continue };
        let function = format_ident!("__default_{}", ident.unraw());
        let path = quote!(#name #arguments::#function).to_string().replace(' ', "");
        functions.extend(quote! {
            fn #function() -> #ty {
                let value: #self_type = #value;
                value.#ident
            }
        });
        field.attrs.push(parse_quote!(#[serde(default = #path)]));
    }
    Some(quote! {
        #[allow(non_snake_case)]
        impl #impl_generics #name #ty_generics #where_clause {
            #functions
        }
    })
}

/// Returns the bounds of a generic type that its default requires: without `Serialize`, schemars silently omits
/// defaults.
pub(super) fn bounds(input: &DeriveInput, krate: &TokenStream) -> Vec<WherePredicate> {
    let Some(default) = container_default(&input.attrs) else { return Vec::new() };
    let parameters = input.generics.type_params().map(|parameter| &parameter.ident);
    let mut bounds: Vec<WherePredicate> =
        parameters.map(|name| parse_quote!(#name: #krate::serde::Serialize)).collect();
    if !bounds.is_empty() && matches!(default, SerdeDefault::OfType) {
        let self_type = self_type(input);
        bounds.push(parse_quote!(#self_type: ::core::default::Default));
    }
    bounds
}

/// Returns the default of `#[serde(default)]` on a type.
fn container_default(attrs: &[Attribute]) -> Option<SerdeDefault> {
    let default = attr::key("serde", "default", attrs)?;
    SerdeDefault::from_meta(&default).ok()
}

fn takes_container_default(field: &Field) -> bool {
    !["default", "flatten"].iter().any(|key| has_serde_key(&field.attrs, key)) && !is_skipped(&field.attrs)
}

/// Adds a default to the schema that serde does not serialize: decoding sets it, so that the server must, too. schemars
/// omits it.
fn add_unserialized_default(field: &mut Field, has_container_default: bool, krate: &TokenStream) {
    let default = attr::key("serde", "default", &field.attrs);
    let takes_container_default = has_container_default && takes_container_default(field);
    let has_default = default.is_some() || takes_container_default;
    let is_skipped = ["skip_serializing", "skip_serializing_if"]
        .map(|key| has_default && !is_skipped(&field.attrs) && remove_serde_key(&mut field.attrs, key));
    if !is_skipped.contains(&true) {
        return;
    }
    // A zero value is usually absent in JSON, and the server need not set it, unless it is explicit.
    if !matches!(default, Some(Meta::NameValue(_))) {
        field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::WithoutZeroDefault)]));
    }
}
