//! Emits the impls of a checked model, one file for each; for a rejected one placeholder impls that prevent follow-up
//! errors.

pub(crate) mod adopt;
pub(crate) mod apply;
mod conversion;
pub(crate) mod convert;
pub(crate) mod deep_copy;
pub(crate) mod defaults;
pub(crate) mod generated_list;
pub(crate) mod group_version;
mod indexes;
pub(crate) mod kind;
mod lifecycle;
pub(crate) mod list;
mod methods;
pub(crate) mod placeholder;
mod policy;
pub(crate) mod root;
pub(crate) mod schema;
mod wire;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// Wraps the impls, so that those of a deprecated type do not warn about its use.
pub(crate) fn in_const_block(impls: TokenStream) -> TokenStream {
    quote! {
        #[allow(deprecated)]
        const _: () = { #impls };
    }
}

/// Emits an `Option`.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Moves the tokens to this location, where rustc reports errors in them.
pub(crate) fn located_at(tokens: TokenStream, at: Span) -> TokenStream {
    let locate = |token: TokenTree| {
        let mut token = match token {
            TokenTree::Group(group) => Group::new(group.delimiter(), located_at(group.stream(), at)).into(),
            other => other,
        };
        token.set_span(token.span().located_at(at));
        token
    };
    tokens.into_iter().map(locate).collect()
}
