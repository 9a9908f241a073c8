//! Emits the indexes of a kind's informer.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::{attr::genclient::Index, model::Kind};

/// Emits the names as data, and the functions as impls, whose paths rustc resolves in the user's module.
pub(super) fn emit(kind: &Kind) -> (TokenStream, TokenStream) {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    let names = kind.indexes().iter().map(Index::name);
    let impls = kind.indexes().iter().enumerate().map(|(i, Index { by, .. })| {
        let values = quote_spanned!(by.span()=> ::core::iter::IntoIterator::into_iter(#by(self)));
        quote! {
            #[automatically_derived]
            impl #krate::IndexedBy<#i> for #ident {
                fn values(&self) -> ::std::vec::Vec<::std::string::String> {
                    #values.map(::core::convert::Into::into).collect()
                }
            }
        }
    });
    (quote!(&[#(#names),*]), quote!(#(#impls)*))
}
