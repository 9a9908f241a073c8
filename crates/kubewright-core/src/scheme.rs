//! The scheme: a registry of the Rust type, the decoder and the resource of each group, version and kind, like Go's
//! `runtime.Scheme` with its codec factory and REST mapper.

mod decode;
mod names;
mod registration;
mod root_type;
#[cfg(test)]
mod tests;
mod yaml;

use std::{any::type_name, collections::BTreeMap};

use serde::de::DeserializeOwned;

pub use decode::{DecodeError, DecodeErrors, Decoder, DocumentError, UnknownKinds};
pub use registration::{Conflict, Registration};
pub use root_type::RootType;

pub use crate::group_version::group_version_kind;

use crate::{
    group_version::{GroupVersionKind, GroupVersionResource},
    meta::{HasScope, TypeMeta},
    object::{Meta, Object},
};

type Decode = fn(&[u8]) -> Result<Box<dyn Object>, serde_json::Error>;

/// A registry of types by group, version and kind.
///
/// Guarantees:
/// - A group, version and kind has one type, and a resource one kind: a second registration is a [`Conflict`] and has
///   no effect.
/// - Registering the same type again has no effect.
/// - An object is decoded into the registered type, with its `apiVersion` and `kind` validated; a list into its list
///   type.
/// - An unknown kind is an error, or preserved as a [`Unstructured`](crate::Unstructured), depending on
///   [`UnknownKinds`].
/// - All errors of a text with several documents are reported, each with its document and line.
/// - The cost of decoding a text is bounded by its size, regardless of its aliases.
/// - Kinds and resources map to each other, and the most stable and newest version of a kind is preferred.
///
/// ```
/// use kubewright_core::Scheme;
/// use kubewright_core::k8s_openapi::api::core::v1::{ConfigMap, Service};
///
/// let mut scheme = Scheme::new();
/// scheme.add::<ConfigMap>()?;
/// scheme.add::<Service>()?;
/// let manifest = "
/// apiVersion: v1
/// kind: Service
/// metadata: {name: web}
/// ---
/// apiVersion: v1
/// kind: ConfigMap
/// data: {colour: blue}
/// ";
/// let mut objects = scheme.decode_all(manifest)?;
/// assert_eq!(objects[0].object_meta().and_then(|meta| meta.name.as_deref()), Some("web"));
/// let config: Box<ConfigMap> = objects.remove(1).downcast().map_err(|other| format!("{other:?}"))?;
/// assert_eq!(config.data.as_ref().map(|data| data["colour"].as_str()), Some("blue"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    types: BTreeMap<GroupVersionKind, Entry>,
    kinds: BTreeMap<GroupVersionResource, GroupVersionKind>,
}

#[derive(Clone, Debug)]
struct Entry {
    rust_type: &'static str,
    registration: Registration,
    decode: Decode,
}

impl Scheme {
    /// Creates a scheme without types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `T`, a kind or a list, for its own group, version and kind.
    ///
    /// # Errors
    /// Another type is registered for its group, version and kind, or another kind for its resource.
    pub fn add<T>(&mut self) -> Result<(), Conflict>
    where
        T: Object + DeserializeOwned + k8s_openapi::Resource<Scope: HasScope> + k8s_openapi::Metadata<Ty: Meta>,
    {
        self.add_as::<T>(Registration::new::<T>())
    }

    /// Registers a type of a `group_version!`, with its lifecycle. Called by `add_to_scheme` of the version module.
    ///
    /// # Errors
    /// Another type is registered for its group, version and kind, or another kind for its resource.
    pub fn add_declared<T>(&mut self) -> Result<(), Conflict>
    where
        T: RootType
            + Object
            + DeserializeOwned
            + k8s_openapi::Resource<Scope: HasScope>
            + k8s_openapi::Metadata<Ty: Meta>,
    {
        let lifecycle = match T::META {
            TypeMeta::Kind(kind) | TypeMeta::KindWithList(kind, _) => kind.lifecycle,
            TypeMeta::List(_) => None,
        };
        self.add_as::<T>(Registration { lifecycle, ..Registration::new::<T>() })
    }

    /// Registers `T` with this registration: for a type that does not implement k8s-openapi's traits.
    ///
    /// # Errors
    /// Another type is registered for its group, version and kind, or another kind for its resource.
    pub fn add_as<T: Object + DeserializeOwned>(&mut self, registration: Registration) -> Result<(), Conflict> {
        let (rust_type, gvk) = (type_name::<T>(), registration.gvk.clone());
        match self.types.get(&gvk) {
            Some(known) if known.rust_type != rust_type => {
                return Err(Conflict::Kind { gvk, registered: known.rust_type, rejected: rust_type });
            }
            Some(_) => return Ok(()),
            None => {}
        }
        if let Some(resource) = registration.own_resource() {
            if let Some(registered) = self.kinds.get(&resource) {
                let (registered, rejected) = (Box::new(registered.clone()), Box::new(gvk));
                return Err(Conflict::Resource { resource, registered, rejected });
            }
            self.kinds.insert(resource, gvk.clone());
        }
        self.types.insert(gvk, Entry { rust_type, registration, decode: decode::<T> });
        Ok(())
    }

    /// Whether a type is registered for this group, version and kind.
    pub fn recognizes(&self, gvk: &GroupVersionKind) -> bool {
        self.types.contains_key(gvk)
    }

    /// Returns all registered kinds, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupVersionKind> {
        self.types.keys()
    }

    /// Creates a decoder with this policy for unknown kinds.
    pub fn decoder(&self, unknown: UnknownKinds) -> Decoder<'_> {
        Decoder { scheme: self, unknown }
    }

    /// Decodes a JSON object into the type registered for its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// The input is not a JSON object with both fields, their kind is unknown, or the type rejects the object.
    pub fn decode(&self, json: &[u8]) -> Result<Box<dyn Object>, DecodeError> {
        self.decoder(UnknownKinds::Reject).decode(json)
    }

    /// Decodes a text with exactly one YAML document, likewise.
    ///
    /// # Errors
    /// Those of [`decode`](Scheme::decode), or the text does not have exactly one document.
    pub fn decode_yaml(&self, text: &str) -> Result<Box<dyn Object>, DocumentError> {
        self.decoder(UnknownKinds::Reject).decode_yaml(text)
    }

    /// Decodes all documents of a YAML text in order; empty documents are skipped.
    ///
    /// # Errors
    /// The errors of all documents that cannot be decoded.
    pub fn decode_all(&self, text: &str) -> Result<Vec<Box<dyn Object>>, DecodeErrors> {
        self.decoder(UnknownKinds::Reject).decode_all(text)
    }
}

fn decode<T: Object + DeserializeOwned>(json: &[u8]) -> Result<Box<dyn Object>, serde_json::Error> {
    Ok(Box::new(serde_json::from_slice::<T>(json)?))
}
