//! Emits `Serialize` and `Deserialize` of a root struct: thin impls that list its fields and call generic code.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Index, Type, spanned::Spanned};

use crate::{
    attr::serde::SerdeDefault,
    model::{Root, RootField},
};

/// `plain` lists the fields whose types omit unset fields themselves.
pub(super) fn emit(root: &Root, plain: &[&str]) -> TokenStream {
    let serialize = serialize(root, plain);
    let deserialize = deserialize(root);
    quote!(#serialize #deserialize)
}

fn serialize(root: &Root, plain: &[&str]) -> TokenStream {
    let Root { ident, krate, .. } = root;
    let fields = root.fields();
    let count = fields.len();
    let writes = fields.iter().map(|RootField { ident, json_name, ty, .. }| {
        let method = match plain.contains(&json_name.as_str()) {
            true => format_ident!("plain_field"),
            false => format_ident!("field"),
        };
        let (at, mut ident) = (type_span(ty), ident.clone());
        ident.set_span(at);
        let value = quote_spanned!(at=> &self.#ident);
        quote!(object.#method(#json_name, #value)?;)
    });
    quote! {
        #[automatically_derived]
        impl #krate::serde::Serialize for #ident {
            fn serialize<S: #krate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut object = #krate::wire::RootSerializer::new::<Self>(serializer, #count)?;
                #(#writes)*
                object.end()
            }
        }
    }
}

fn deserialize(root: &Root) -> TokenStream {
    let Root { ident, krate, .. } = root;
    let fields = root.fields();
    let names = fields.iter().map(|field| &field.json_name);
    let types = fields.iter().map(|field| &field.ty);
    let unset = fields.iter().map(|_| quote!(::core::option::Option::None));
    let reads = fields.iter().enumerate().map(|(i, field)| {
        let (slot, name) = (slot(i, field), &field.json_name);
        let value = quote_spanned!(slot.span=> &mut fields.#slot);
        quote!(#i => #krate::wire::read(#value, #name, map),)
    });
    let builds = fields.iter().enumerate().map(|(i, field)| {
        let (slot, ident, name) = (slot(i, field), &field.ident, &field.json_name);
        let value = quote_spanned!(slot.span=> fields.#slot);
        match &field.default {
            Some(SerdeDefault::With(function)) => quote!(#ident: #value.unwrap_or_else(#function)),
            Some(SerdeDefault::OfType) => quote!(#ident: #value.unwrap_or_default()),
            None if field.json_name == "metadata" => quote!(#ident: #value.unwrap_or_default()),
            None => quote!(#ident: #krate::wire::required(#value, #name)?),
        }
    });
    quote! {
        #[automatically_derived]
        impl<'de> #krate::serde::Deserialize<'de> for #ident {
            fn deserialize<D: #krate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #krate::wire::deserialize(deserializer)
            }
        }

        #[automatically_derived]
        impl #krate::wire::Root for #ident {
            const NAMES: &'static [&'static ::core::primitive::str] = &[#(#names),*];
            type Fields = (#(::core::option::Option<#types>,)*);
            #[inline]
            fn empty() -> Self::Fields {
                (#(#unset,)*)
            }
            fn read<'de, A: #krate::serde::de::MapAccess<'de>>(
                fields: &mut Self::Fields,
                index: ::core::primitive::usize,
                map: &mut A,
            ) -> ::core::result::Result<(), A::Error> {
                match index {
                    #(#reads)*
                    _ => ::core::result::Result::Ok(()),
                }
            }
            fn build<E: #krate::serde::de::Error>(fields: Self::Fields) -> ::core::result::Result<Self, E> {
                ::core::result::Result::Ok(Self { #(#builds),* })
            }
        }
    }
}

/// Returns the index of a field in the tuple of decoded values.
fn slot(index: usize, field: &RootField) -> Index {
    let mut slot = Index::from(index);
    slot.span = type_span(&field.ty);
    slot
}

/// Returns the span of a field's type, on which rustc reports its missing impls. Hygiene remains that of the derive.
fn type_span(ty: &Type) -> Span {
    ty.span().resolved_at(Span::call_site())
}
