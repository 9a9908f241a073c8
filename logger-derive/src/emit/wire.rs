//! `Serialize` and `Deserialize` of a root struct: a few lines that name its fields, the rest is generic.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Index;

use crate::model::{Root, RootField};

/// `plain` names the fields that leave out what is unset by themselves.
pub(super) fn emit(root: &Root, plain: &[&str]) -> TokenStream {
    let serialize = serialize(root, plain);
    let deserialize = deserialize(root);
    quote!(#serialize #deserialize)
}

fn serialize(root: &Root, plain: &[&str]) -> TokenStream {
    let Root { ident, krate, .. } = root;
    let fields = root.fields();
    let count = fields.len();
    let writes = fields.iter().map(|RootField { ident, json_name, .. }| {
        let method = format_ident!(
            "{}",
            if plain.contains(&json_name.as_str()) {
                "plain_field"
            } else {
                "field"
            }
        );
        quote!(object.#method(#json_name, &self.#ident)?;)
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
    let reads = fields.iter().enumerate().map(|(i, field)| {
        let (slot, name) = (Index::from(i), &field.json_name);
        quote!(#i => #krate::wire::read(&mut fields.#slot, #name, map),)
    });
    let builds = fields.iter().enumerate().map(|(i, field)| {
        let (slot, ident, name) = (Index::from(i), &field.ident, &field.json_name);
        match field.default.is_present() || field.json_name == "metadata" {
            true => quote!(#ident: fields.#slot.unwrap_or_default()),
            false => quote!(#ident: #krate::wire::required(fields.#slot, #name)?),
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
