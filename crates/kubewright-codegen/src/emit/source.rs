//! A source of the client crate, and tokens that several emitters share.

use proc_macro2::TokenStream;
use quote::quote;

use crate::api::{ClientKind, Group};

/// A source of the client crate.
pub(super) struct Source {
    /// Its path below the source directory of the crate.
    pub(super) path: String,
    /// The documentation of the module.
    pub(super) docs: String,
    pub(super) items: Vec<TokenStream>,
}

impl Source {
    pub(super) fn new(path: impl Into<String>, docs: impl Into<String>, items: Vec<TokenStream>) -> Self {
        Source { path: path.into(), docs: docs.into(), items }
    }

    /// Creates the source that declares one module for each group.
    pub(super) fn from_modules(path: &str, docs: &str, groups: &[&Group]) -> Self {
        let modules = groups.iter().map(|group| group.ident());
        Source::new(path, docs, vec![quote!(#(pub mod #modules;)*)])
    }
}

/// Returns the import of the module of the kinds of a group as `types`.
pub(super) fn import_types(group: &Group) -> TokenStream {
    let path = &group.path;
    quote!(use #path as types;)
}

/// Returns the pattern of a resource: its group, version and plural.
pub(super) fn resource_pattern(group: &Group, kind: &ClientKind) -> TokenStream {
    let (name, version, plural) = (group.meta.group, group.meta.version, kind.meta.plural);
    quote!((#name, #version, #plural))
}

/// Returns `allow(deprecated)` if one of the kinds is deprecated: generated code that names a kind does not use it.
pub(super) fn allow_deprecated<'a>(kinds: impl IntoIterator<Item = &'a ClientKind>) -> Option<TokenStream> {
    kinds.into_iter().any(|kind| !kind.deprecated.is_empty()).then(|| quote!(allow(deprecated)))
}

/// Returns a doc attribute for each line.
pub(super) fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}
