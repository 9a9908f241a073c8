//! `#[schemars(..)]`, as far as it concerns the JSON encoding.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident};
use syn::{Attribute, Meta, Path, Token, parse::Parse, parse::ParseStream};

use super::keys;

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

/// Removes a key from the attributes of this name, `serde` or `schemars`.
pub(crate) fn remove_key(name: &str, key: &str, attrs: &mut [Attribute]) {
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident(name)) {
        let mut keys: Vec<SchemarsKey> = keys(name, std::slice::from_ref(attr));
        let (name, count) = (format_ident!("{name}"), keys.len());
        keys.retain(|known| !known.path.is_ident(key));
        if keys.len() < count {
            *attr = syn::parse_quote!(#[#name(#(#keys),*)]);
        }
    }
}
