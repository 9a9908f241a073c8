//! The defaults of fields in the schema, which are those of decoding.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Field, Meta, WherePredicate, ext::IdentExt, parse_quote};

use super::self_type::{self_type, without_self};
use crate::{
    attr::{schemars::remove_key, serde::SerdeDefault},
    model::{SchemaField, SchemaType},
};

/// Moves the default of a type to its fields, because the shadow has no `Default`. Returns the functions of the
/// defaults.
pub(super) fn transfer(
    input: &DeriveInput,
    model: &SchemaType,
    shadow: &mut DeriveInput,
    krate: &TokenStream,
) -> Option<TokenStream> {
    remove_key("serde", "default", &mut shadow.attrs);
    let default = model.default.as_ref()?;
    shadow.generics.make_where_clause().predicates.extend(bounds(input, model, krate));
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
    let fields = data.fields.iter_mut().zip(model.fields());
    for (field, _) in fields.filter(|(_, schema)| schema.takes_default_of_type()) {
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
pub(super) fn bounds(input: &DeriveInput, model: &SchemaType, krate: &TokenStream) -> Vec<WherePredicate> {
    let Some(default) = &model.default else { return Vec::new() };
    let parameters = input.generics.type_params().map(|parameter| &parameter.ident);
    let mut bounds: Vec<WherePredicate> =
        parameters.map(|name| parse_quote!(#name: #krate::serde::Serialize)).collect();
    if !bounds.is_empty() && matches!(default, SerdeDefault::OfType) {
        let self_type = self_type(input);
        bounds.push(parse_quote!(#self_type: ::core::default::Default));
    }
    bounds
}

/// Adds a default to the schema that serde does not serialize: decoding sets it, so that the server must, too. schemars
/// omits it.
pub(super) fn add_unserialized(field: &mut Field, schema: &SchemaField, model: &SchemaType, krate: &TokenStream) {
    const SKIPPED: [&str; 2] = ["skip_serializing", "skip_serializing_if"];
    let SchemaField { serde, .. } = schema;
    let has_default = serde.has("default") || model.default.is_some() && schema.takes_default_of_type();
    if !has_default || serde.is_skipped() || !serde.has_any(&SKIPPED) {
        return;
    }
    SKIPPED.iter().for_each(|key| remove_key("serde", key, &mut field.attrs));
    // A zero value is usually absent in JSON, and the server need not set it, unless it is explicit.
    if !matches!(serde.key("default"), Some(Meta::NameValue(_))) {
        field.attrs.push(parse_quote!(#[schemars(transform = #krate::schema::WithoutZeroDefault)]));
    }
}
