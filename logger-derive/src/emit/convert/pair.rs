//! What the impls of the hub and of its spokes have in common: how they refer to each other.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::{Path, spanned::Spanned};

use crate::model::json::Tagging;

/// Returns the hash of the name of a field, FNV-1a, which stands for the name in types.
pub(super) fn name_hash(name: &str) -> Literal {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Literal::u64_suffixed(name.bytes().fold(0xcbf2_9ce4_8422_2325, add))
}

/// Returns the location of a path in messages: that of its last segment.
pub(super) fn location(path: &Path) -> Span {
    path.segments.last().map_or_else(|| path.span(), |last| last.ident.span())
}

/// Emits the encoding of variants.
pub(super) fn tagging(tagging: &Tagging, krate: &TokenStream) -> TokenStream {
    let tagging = match tagging {
        Tagging::External => quote!(External),
        Tagging::Internal(tag) => quote!(Internal(#tag)),
        Tagging::Adjacent(tag, content) => quote!(Adjacent(#tag, #content)),
    };
    quote!(#krate::conversion::plan::Tagging::#tagging)
}
