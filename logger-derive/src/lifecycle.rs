//! `#[k8s(lifecycle(..))]`: the releases that introduce, deprecate and remove a kind. Go's
//! `+k8s:prerelease-lifecycle-gen`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{LitStr, spanned::Spanned};

use crate::{attr::k8s::Lifecycle, errors::Errors, model::Kind};

/// A release of the product that serves the kind: major and minor version.
type Release = (u32, u32);

/// Checks that releases are `major.minor` and in order, and that the replacement is another kind.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let Some(lifecycle) = &kind.k8s.lifecycle else {
        return;
    };
    let Lifecycle { introduced, deprecated, removed, replacement } = lifecycle;
    for literal in [Some(introduced), deprecated.as_ref(), removed.as_ref()].into_iter().flatten() {
        if release(literal).is_none() {
            errors.push(literal, "invalid release: expected `major.minor`, such as `1.2`");
        }
    }
    let at = |literal: Option<&LitStr>| literal.and_then(release);
    if let (Some(introduced), Some(deprecated)) = (at(Some(introduced)), at(deprecated.as_ref()))
        && deprecated < introduced
    {
        errors.push(
            &lifecycle.deprecated,
            "invalid lifecycle: deprecated before it is introduced; use a release not earlier than `introduced`",
        );
    }
    if let (Some(deprecated), Some(removed)) = (at(deprecated.as_ref()), at(removed.as_ref()))
        && removed <= deprecated
    {
        errors.push(
            &lifecycle.removed,
            "invalid lifecycle: removed no later than it is deprecated; use a release after `deprecated`",
        );
    }
    if let (Some(introduced), None, Some(removed)) = (at(Some(introduced)), deprecated, at(removed.as_ref()))
        && removed <= introduced
    {
        errors.push(
            &lifecycle.removed,
            "invalid lifecycle: removed no later than it is introduced; use a release after `introduced`",
        );
    }
    if let Some(path) = replacement
        && path.is_ident(&kind.root.ident)
    {
        errors.push(path, "a kind cannot replace itself; use the path of another kind");
    }
}

/// Parses a release such as `1.2`.
fn release(literal: &LitStr) -> Option<Release> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let text = literal.value();
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

/// Emits the fields of `ApiKind` for the attribute and for the type's own `#[deprecated]`.
pub(crate) fn emit(kind: &Kind) -> TokenStream {
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
        option(replacement.map(|path| quote_spanned!(path.span()=> #krate::meta::Replacement::of::<#path>())));
    quote! {
        #krate::meta::Lifecycle {
            introduced: #introduced,
            deprecated: #deprecated,
            removed: #removed,
            replacement: #replacement,
        }
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
