//! What is said of a deprecated kind: by the server to its users, by rustc to those of its client.

use logger_core::meta::{ApiGroup, ApiKind};
use proc_macro2::TokenStream;
use quote::quote;

/// What its lifecycle says, then the note of its own `#[deprecated]`, on one line; `None` of a kind that is not deprecated.
/// It is empty if neither says more.
pub(crate) fn text(group: &ApiGroup, kind: &ApiKind) -> Option<String> {
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

/// The attribute for what is generated for a kind, which names other deprecated items.
pub(crate) fn attribute(group: &ApiGroup, kind: &ApiKind) -> TokenStream {
    match text(group, kind) {
        None => quote!(),
        Some(text) if text.is_empty() => quote!(#[allow(deprecated)] #[deprecated]),
        Some(text) => quote!(#[allow(deprecated)] #[deprecated(note = #text)]),
    }
}
