//! `#[serde(..)]`, and the derives of serde.

use darling::FromMeta;
use syn::{ExprPath, Lit, LitStr, Path};

use super::is_named;

/// `#[serde(..)]` on a root struct.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SerdeContainer {
    pub(crate) rename_all: Option<LitStr>,
}

/// `#[serde(..)]` on a field of a root struct.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct SerdeField {
    pub(crate) rename: Option<LitStr>,
    pub(crate) default: Option<SerdeDefault>,
}

/// `#[serde(default)]`
pub(crate) enum SerdeDefault {
    /// `default`: the value of the type's `Default`.
    OfType,
    /// `default = "path::function"`: the result of this function.
    With(ExprPath),
}

impl FromMeta for SerdeDefault {
    fn from_word() -> darling::Result<Self> {
        Ok(SerdeDefault::OfType)
    }

    fn from_value(value: &Lit) -> darling::Result<Self> {
        let path = match value {
            Lit::Str(text) => text.parse().ok(),
            _ => None,
        };
        path.map(SerdeDefault::With).ok_or_else(|| darling::Error::unexpected_lit_type(value))
    }
}

/// Whether the path is that of a derive of serde.
pub(crate) fn is_serde_derive(path: &Path) -> bool {
    is_named(path, "Serialize") || is_named(path, "Deserialize")
}
