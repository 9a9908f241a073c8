//! Emits the releases that introduce, deprecate and remove a kind.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{LitStr, spanned::Spanned};

use super::option;
use crate::{
    attr::k8s::Lifecycle,
    model::{Kind, release},
};

/// Emits the fields of `ApiKind` for the attribute and for the type's own `#[deprecated]`.
pub(super) fn emit(kind: &Kind) -> TokenStream {
    let krate = &kind.root.krate;
    let lifecycle = option(kind.k8s.lifecycle.as_ref().map(|lifecycle| data(lifecycle, krate)));
    let deprecated = option(kind.deprecated.as_ref().map(|note| quote!(#note)));
    quote!(lifecycle: #lifecycle, deprecated: #deprecated)
}

fn data(lifecycle: &Lifecycle, krate: &TokenStream) -> TokenStream {
    let release = |literal: Option<&LitStr>| {
        literal.and_then(release).map(|(major, minor)| quote!(#krate::meta::Release { major: #major, minor: #minor }))
    };
    let introduced = release(Some(&lifecycle.introduced));
    let (deprecated, removed) =
        (option(release(lifecycle.deprecated.as_ref())), option(release(lifecycle.removed.as_ref())));
    let replacement = lifecycle.replacement.as_ref();
    let replacement =
        option(replacement.map(|path| quote_spanned!(path.span()=> #krate::meta::Replacement::new::<#path>())));
    quote! {
        #krate::meta::Lifecycle {
            introduced: #introduced,
            deprecated: #deprecated,
            removed: #removed,
            replacement: #replacement,
        }
    }
}
