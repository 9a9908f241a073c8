//! `#[serde(..)]`, and the derives of serde.

use darling::FromMeta;
use syn::{Attribute, ExprPath, Lit, LitStr, Meta, Path};

use super::{is_named, keys};

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

/// Whether an attribute of serde has this key.
pub(crate) fn has_serde_key(attrs: &[Attribute], key: &str) -> bool {
    super::key("serde", key, attrs).is_some()
}

/// Whether serde neither encodes nor decodes a field or a variant.
pub(crate) fn is_skipped(attrs: &[Attribute]) -> bool {
    let has = |key| has_serde_key(attrs, key);
    has("skip") || has("skip_serializing") && has("skip_deserializing")
}

/// Removes a key from the attributes of serde, and returns whether it was present.
pub(crate) fn remove_serde_key(attrs: &mut [Attribute], key: &str) -> bool {
    let mut is_present = false;
    for attr in attrs.iter_mut().filter(|attr| attr.path().is_ident("serde")) {
        let keys = keys("serde", std::slice::from_ref(attr));
        let others: Vec<&Meta> = keys.iter().filter(|meta| !meta.path().is_ident(key)).collect();
        if others.len() < keys.len() {
            is_present = true;
            *attr = syn::parse_quote!(#[serde(#(#others),*)]);
        }
    }
    is_present
}
