//! The deprecation warning of a kind: for users of the server, and for rustc where its client is used.

use kubewright_core::meta::{ApiGroup, ApiKind};
use proc_macro2::TokenStream;
use quote::quote;

/// Returns the warning of its lifecycle, then the note of its `#[deprecated]`, on one line. `None` if the kind is not
/// deprecated; empty if it is deprecated without any text.
pub(crate) fn warning(group: &ApiGroup, kind: &ApiKind) -> Option<String> {
    let api_version = match group.group {
        "" => group.version.to_owned(),
        name => format!("{name}/{}", group.version),
    };
    let warning = kind.lifecycle.and_then(|lifecycle| lifecycle.warning(&api_version, kind.kind));
    let note = kind.deprecated.map(|note| note.split_whitespace().collect::<Vec<_>>().join(" "));
    match (warning, note) {
        (Some(warning), Some(note)) if !note.is_empty() => Some(format!("{warning}. {note}")),
        (warning, note) => warning.or(note),
    }
}

/// Returns the attribute for items that are generated for a kind. They name other deprecated items, so the lint is
/// allowed.
pub(crate) fn attribute(group: &ApiGroup, kind: &ApiKind) -> TokenStream {
    match warning(group, kind) {
        None => quote!(),
        Some(warning) if warning.is_empty() => quote!(#[allow(deprecated)] #[deprecated]),
        Some(warning) => quote!(#[allow(deprecated)] #[deprecated(note = #warning)]),
    }
}
