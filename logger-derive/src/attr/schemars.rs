//! `#[schemars(..)]`, as far as it concerns the JSON encoding.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Meta, Path, Token, parse::Parse, parse::ParseStream, punctuated::Punctuated};

use super::{named, serde::has_serde_key};

/// A key, such as `with = "String"`, or `!from`, which takes a key of serde back.
pub(crate) struct SchemarsKey {
    pub(crate) path: Path,
    tokens: TokenStream,
}

impl Parse for SchemarsKey {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![!]) {
            let (not, path) = (input.parse::<Token![!]>()?, input.parse::<Path>()?);
            let mut tokens = not.to_token_stream();
            path.to_tokens(&mut tokens);
            return Ok(SchemarsKey { path, tokens });
        }
        let meta: Meta = input.parse()?;
        Ok(SchemarsKey { path: meta.path().clone(), tokens: meta.into_token_stream() })
    }
}

impl ToTokens for SchemarsKey {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

/// Whether the schema of a field or a variant is that of another type than its own.
pub(crate) fn has_other_schema(attrs: &[Attribute]) -> bool {
    let is_other = |key: &SchemarsKey| ["with", "schema_with"].iter().any(|name| key.path.is_ident(name));
    has_serde_key(attrs, "with") || keys(attrs).iter().any(is_other)
}

/// Removes a key.
pub(crate) fn remove_key(attrs: &mut [Attribute], key: &str) {
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("schemars")) {
        let mut keys = keys(std::slice::from_ref(attr));
        let count = keys.len();
        keys.retain(|known| !known.path.is_ident(key));
        if keys.len() < count {
            *attr = syn::parse_quote!(#[schemars(#(#keys),*)]);
        }
    }
}

/// Returns the keys of all attributes; those with syntax errors are skipped, which schemars reports.
pub(crate) fn keys(attrs: &[Attribute]) -> Vec<SchemarsKey> {
    named("schemars", attrs)
        .filter_map(|attr| attr.parse_args_with(Punctuated::<SchemarsKey, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}
