//! `#[deep_copy(..)]`: how a type and its fields are copied.

use darling::{
    FromMeta,
    util::{Flag, PathList},
};
use syn::Path;

/// `#[deep_copy(..)]` on a type.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct TypeAttr {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    /// `+k8s:deepcopy-gen:interfaces=`
    #[darling(rename = "dyn")]
    pub(crate) traits: PathList,
}

/// `#[deep_copy(..)]` on a field.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct FieldAttr {
    pub(crate) clone: Flag,
}
