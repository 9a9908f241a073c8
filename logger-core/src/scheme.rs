//! The scheme: which Rust type each group, version and kind is, and how it is decoded. Go's `runtime.Scheme`.

use std::any::type_name;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::group_version::GroupVersionKind;
use crate::object::Object;

type Decode = fn(&[u8]) -> Result<Box<dyn Object>, serde_json::Error>;

/// A registry of types by group, version and kind.
///
/// It promises:
/// - two types never share a group, version and kind: the second registration is a [`Conflict`];
/// - registering the same type twice is the same as once;
/// - what it decodes is the registered type, with its `apiVersion` and `kind` checked.
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    types: BTreeMap<GroupVersionKind, Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rust_type: &'static str,
    decode: Decode,
}

impl Scheme {
    /// A scheme that knows no types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `T` under its group, version and kind. `add_to_scheme` of a version module calls it for each type.
    ///
    /// # Errors
    /// Another type is registered under this name.
    pub fn add<T: Object + DeserializeOwned>(&mut self, gvk: GroupVersionKind) -> Result<(), Conflict> {
        let rust_type = type_name::<T>();
        match self.types.get(&gvk) {
            Some(known) if known.rust_type != rust_type => {
                Err(Conflict { gvk, registered: known.rust_type, refused: rust_type })
            }
            Some(_) => Ok(()),
            None => {
                self.types.insert(gvk, Entry { rust_type, decode: decode::<T> });
                Ok(())
            }
        }
    }

    /// Whether a type is registered under this name.
    pub fn recognizes(&self, gvk: &GroupVersionKind) -> bool {
        self.types.contains_key(gvk)
    }

    /// All registered names, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupVersionKind> {
        self.types.keys()
    }

    /// Decodes a JSON object into the type registered for its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// The text is no JSON object with both fields, no type is registered for them, or the type refuses the rest.
    pub fn decode(&self, json: &[u8]) -> Result<Box<dyn Object>, DecodeError> {
        let head: TypeMeta = serde_json::from_slice(json).map_err(DecodeError::Untyped)?;
        let gvk = GroupVersionKind::from_type_meta(&head.api_version, &head.kind);
        let Some(entry) = self.types.get(&gvk) else {
            return Err(DecodeError::Unknown(gvk));
        };
        (entry.decode)(json).map_err(|source| DecodeError::Malformed { gvk, source })
    }
}

/// The group, version and kind of a type.
pub const fn group_version_kind<T: k8s_openapi::Resource>() -> GroupVersionKind {
    GroupVersionKind {
        group: Cow::Borrowed(T::GROUP),
        version: Cow::Borrowed(T::VERSION),
        kind: Cow::Borrowed(T::KIND),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeMeta {
    api_version: String,
    kind: String,
}

fn decode<T: Object + DeserializeOwned>(json: &[u8]) -> Result<Box<dyn Object>, serde_json::Error> {
    Ok(Box::new(serde_json::from_slice::<T>(json)?))
}

/// Two types claim the same group, version and kind.
#[derive(Debug, thiserror::Error)]
#[error("{gvk} is registered as `{registered}`, so it cannot be `{refused}` too")]
pub struct Conflict {
    /// The name both claim.
    pub gvk: GroupVersionKind,
    /// The Rust type that has it.
    pub registered: &'static str,
    /// The Rust type that asked for it.
    pub refused: &'static str,
}

/// Why an object could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not a JSON object with `apiVersion` and `kind`.
    #[error("not a Kubernetes object: a JSON object with apiVersion and kind is expected")]
    Untyped(#[source] serde_json::Error),
    /// No type is registered for it.
    #[error("no type is registered for {0}; add its group with its add_to_scheme")]
    Unknown(GroupVersionKind),
    /// The registered type does not accept it.
    #[error("not a valid {gvk}")]
    Malformed {
        /// What it claims to be.
        gvk: GroupVersionKind,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}
