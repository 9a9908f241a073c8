//! `#[genclient(index(..))]`: the indexes of a kind's informer.

use kubewright_names::case::is_snake_case;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::{attr::genclient::Index, errors::Errors, model::Kind};

/// Checks the names of the indexes, and that there is an informer.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let indexes = kind.indexes();
    for (i, index) in indexes.iter().enumerate() {
        let name = index.name();
        if !is_snake_case(&name) {
            errors.push(&index.name, "expected an index name in snake case, such as `by_state`");
        } else if indexes[..i].iter().any(|earlier| earlier.name() == name) {
            errors.push(&index.name, "duplicate index name; rename one");
        }
    }
    if let (Some(index), false) = (indexes.first(), kind.has_informer()) {
        errors.push(
            &index.name,
            "an index requires an informer and a lister; grant `list`, `watch` and `get`, or remove it",
        );
    }
}

impl Kind {
    fn indexes(&self) -> &[Index] {
        self.genclient.as_ref().map_or(&[], |(_, client)| &client.index)
    }

    /// Whether the kind has an informer, and a lister to read its store.
    fn has_informer(&self) -> bool {
        let verbs = self.verbs();
        ["Get", "List", "Watch"].iter().all(|verb| verbs.contains(verb))
    }
}

impl Index {
    fn name(&self) -> String {
        self.name.get_ident().map(ToString::to_string).unwrap_or_default()
    }
}

/// Emits the names as data, and the functions as impls, whose paths rustc resolves in the user's module.
pub(crate) fn emit(kind: &Kind) -> (TokenStream, TokenStream) {
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
