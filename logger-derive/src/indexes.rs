//! `#[genclient(index(..))]`: the indexes of a kind's informer.

use darling::FromMeta;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::model::Kind;
use crate::names;

/// `index(name = by_state, by = path::function)`
#[derive(FromMeta)]
pub(crate) struct Index {
    pub(crate) name: Path,
    by: Path,
}

/// Names are names, and each is given once.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let indexes = kind.indexes();
    for (i, index) in indexes.iter().enumerate() {
        let name = index.name();
        if !names::is_snake_case(&name) {
            errors.push(&index.name, "expected a name in snake case, such as `by_state`");
        } else if indexes[..i].iter().any(|earlier| earlier.name() == name) {
            errors.push(&index.name, "another index has this name; rename one");
        }
    }
    if let (Some(index), false) = (indexes.first(), kind.is_informed()) {
        errors.push(
            &index.name,
            "an index is on an informer's store, and without `list`, `watch` and `get` nothing reads one",
        );
    }
}

impl Kind {
    fn indexes(&self) -> &[Index] {
        self.genclient.as_ref().map_or(&[], |(_, client)| &client.index)
    }

    /// Whether there is an informer, and a lister to read its store.
    fn is_informed(&self) -> bool {
        let verbs = self.verbs();
        ["Get", "List", "Watch"].iter().all(|verb| verbs.contains(verb))
    }
}

impl Index {
    fn name(&self) -> String {
        self.name.get_ident().map(ToString::to_string).unwrap_or_default()
    }
}

/// The names as data, and the functions as impls: rustc resolves their paths where they are written.
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
