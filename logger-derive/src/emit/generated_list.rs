//! Emits the list type of a kind that derives `ApiObject`, with the impls of `ObjectList`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Ident, ext::IdentExt, parse_quote};

use super::{in_const_block, list, placeholder};
use crate::{
    deep_copy,
    errors::Errors,
    model::{Kind, List},
};

/// Returns the list type; placeholder impls belong to a rejected kind.
pub(super) fn emit(input: &DeriveInput, kind: &Kind, is_rejected: bool) -> TokenStream {
    let (ident, krate) = (&input.ident, &kind.root.krate);
    let struct_of_list = declaration(input, kind);
    // The errors of a rejected kind are reported on the kind.
    let mut model = List::parse(&struct_of_list, krate, &mut Errors::default());
    model.root.registered = ident.clone();
    let impls = match is_rejected {
        true => placeholder::list(&struct_of_list, &model),
        false => in_const_block(list::emit(&model)),
    };
    let (name, deep_copy) = (&struct_of_list.ident, deep_copy::derive(&struct_of_list, krate).items);
    quote! {
        #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::default::Default)]
        #[allow(deprecated)]
        #struct_of_list
        #deep_copy
        #impls

        // The bound has a lifetime so that a kind that cannot be compared is not an error.
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::core::cmp::PartialEq for #name
        where
            for<'of_kind> #ident: ::core::cmp::PartialEq,
        {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                self.metadata == other.metadata && self.items == other.items
            }
        }
    }
}

/// Returns the name of the list type.
pub(super) fn name(kind: &Kind) -> Ident {
    let ident = &kind.root.ident;
    format_ident!("{}List", ident.unraw(), span = ident.span())
}

fn declaration(input: &DeriveInput, kind: &Kind) -> DeriveInput {
    let DeriveInput { ident, vis, .. } = input;
    let (krate, name) = (&kind.root.krate, name(kind));
    let (docs, of_items) = (format!("A list of {} objects.", kind.kind()), format!("The {} objects.", kind.kind()));
    parse_quote! {
        #[doc = #docs]
        #vis struct #name {
            #[doc = "Standard list metadata."]
            pub metadata: #krate::wire::ListMeta,
            #[doc = #of_items]
            pub items: ::std::vec::Vec<#ident>,
        }
    }
}
