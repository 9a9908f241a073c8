//! `#[k8s(lifecycle(..))]`: since when a kind is served and how long. Go's `+k8s:prerelease-lifecycle-gen`.

use darling::FromMeta;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Path, Token};

use crate::attr;
use crate::errors::Errors;
use crate::model::Kind;

/// What may be said in it.
#[derive(FromMeta)]
pub(crate) struct Lifecycle {
    introduced: LitStr,
    #[darling(default)]
    deprecated: Option<LitStr>,
    #[darling(default)]
    removed: Option<LitStr>,
    #[darling(default)]
    replacement: Option<Path>,
}

/// A release of the product that serves the kind: major and minor number.
type Release = (u32, u32);

/// Releases are `major.minor` and in order; the replacement is another kind.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let Some(lifecycle) = &kind.k8s.lifecycle else {
        return;
    };
    let Lifecycle { introduced, deprecated, removed, replacement } = lifecycle;
    for said in [Some(introduced), deprecated.as_ref(), removed.as_ref()].into_iter().flatten() {
        if release(said).is_none() {
            errors.push(said, "expected a release, `major.minor`, of what serves the kind, such as `1.2`");
        }
    }
    let at = |said: Option<&LitStr>| said.and_then(release);
    if let (Some(introduced), Some(deprecated)) = (at(Some(introduced)), at(deprecated.as_ref()))
        && deprecated < introduced
    {
        errors.push(&lifecycle.deprecated, "deprecated before it is introduced; give a release that is not earlier");
    }
    if let (Some(deprecated), Some(removed)) = (at(deprecated.as_ref()), at(removed.as_ref()))
        && removed <= deprecated
    {
        errors.push(&lifecycle.removed, "removed before users could be warned; give a release after `deprecated`");
    }
    if let (Some(introduced), None, Some(removed)) = (at(Some(introduced)), deprecated, at(removed.as_ref()))
        && removed <= introduced
    {
        errors.push(&lifecycle.removed, "removed before it could be used; give a release after `introduced`");
    }
    if let Some(path) = replacement
        && path.is_ident(&kind.root.ident)
    {
        errors.push(path, "a kind cannot replace itself; name another, by its path");
    }
}

/// `1.2`
fn release(said: &LitStr) -> Option<Release> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let text = said.value();
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

/// The fields of `ApiKind`: what the attribute says, and what the type's own `#[deprecated]` says.
pub(crate) fn emit(kind: &Kind) -> TokenStream {
    let krate = &kind.root.krate;
    let lifecycle = option(kind.k8s.lifecycle.as_ref().map(|lifecycle| data(lifecycle, krate)));
    let deprecated = option(kind.deprecated.as_ref().map(|note| quote!(#note)));
    quote!(lifecycle: #lifecycle, deprecated: #deprecated)
}

fn data(lifecycle: &Lifecycle, krate: &TokenStream) -> TokenStream {
    let release = |said: Option<&LitStr>| {
        said.and_then(release).map(|(major, minor)| quote!(#krate::meta::Release { major: #major, minor: #minor }))
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

/// The note of Rust's own `#[deprecated]`, empty if it has none. What is wrong with it rustc says.
pub(crate) fn deprecation_note(attrs: &[Attribute]) -> Option<String> {
    let text = |value: &Expr| match value {
        Expr::Lit(ExprLit { lit: Lit::Str(note), .. }) => Some(note.value()),
        _ => None,
    };
    let note = attr::named("deprecated", attrs).next().map(|attr| match &attr.meta {
        Meta::Path(_) => None,
        Meta::NameValue(note) => text(&note.value),
        Meta::List(_) => attr
            .parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated)
            .ok()
            .and_then(|said| text(&said.iter().find(|keyword| keyword.path.is_ident("note"))?.value)),
    })?;
    Some(note.unwrap_or_default())
}
