//! `#[apply(..)]`: how a type and its fields are applied.

use darling::{FromMeta, util::Flag};
use syn::Path;

/// `#[apply(..)]` on a type.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct TypeAttr {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// `#[apply(..)]` on a field.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FieldAttr {
    /// The field is applied atomically.
    pub(crate) atomic: Flag,
}
