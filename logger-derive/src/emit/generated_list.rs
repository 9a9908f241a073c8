//! Emits the list type of a kind that derives `ApiObject`, with the impls of `ObjectList`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{DeriveInput, parse_quote};

use super::{deep_copy, in_const_block, list, placeholder};
use crate::{
    errors::Errors,
    model::{CopiedType, Kind, List},
};

/// Returns the list type; placeholder impls belong to a rejected kind.
pub(crate) fn emit(input: &DeriveInput, kind: &Kind, is_rejected: bool) -> TokenStream {
    let (ident, krate) = (&input.ident, &kind.root.krate);
    let struct_of_list = declaration(input, kind);
    // The errors of a rejected kind are reported on the kind.
    let mut model = List::parse(&struct_of_list, krate, &mut Errors::default());
    let copied = CopiedType::parse(&struct_of_list, krate, &mut Errors::default());
    model.root.registered = ident.clone();
    let impls = match is_rejected {
        true => placeholder::list(&model),
        false => in_const_block(list::emit(&model)),
    };
    let (name, deep_copy) = (&struct_of_list.ident, deep_copy::emit(&copied));
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

fn declaration(input: &DeriveInput, kind: &Kind) -> DeriveInput {
    let DeriveInput { ident, vis, .. } = input;
    let (krate, name) = (&kind.root.krate, kind.list_name());
    // Lints about code at the location of the kind would be about code of the user.
    let mut item = ident.clone();
    item.set_span(ident.span().located_at(Span::call_site()));
    let (docs, items_docs) = (format!("A list of {} objects.", kind.kind()), format!("The {} objects.", kind.kind()));
    parse_quote! {
        #[doc = #docs]
        #vis struct #name {
            #[doc = "Standard list metadata."]
            pub metadata: #krate::wire::ListMeta,
            #[doc = #items_docs]
            pub items: ::std::vec::Vec<#item>,
        }
    }
}
