//! The scheme: which Rust type each group, version and kind is, how it is decoded and where it is served. Go's
//! `runtime.Scheme`, with what its codec factory and REST mapper know.

mod decode;
mod names;
mod registration;
#[cfg(test)]
mod tests;
mod yaml;

use std::any::type_name;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

pub use decode::{DecodeError, DecodeErrors, Decoder, DocumentError, UnknownKinds};
pub use registration::{Conflict, Registration};

use crate::group_version::{GroupVersionKind, GroupVersionResource};
use crate::meta::{HasScope, TypeMeta};
use crate::object::{ApiType, Meta, Object};

type Decode = fn(&[u8]) -> Result<Box<dyn Object>, serde_json::Error>;

/// A registry of types by group, version and kind.
///
/// It promises:
/// - two types never share a group, version and kind, nor two kinds a resource: the second registration is a [`Conflict`]
///   and changes nothing;
/// - registering the same type twice is the same as once;
/// - what it decodes is the registered type, with its `apiVersion` and `kind` checked; a list is decoded as the list it is;
/// - an unknown kind is an error, or kept whole as a [`DynamicObject`](crate::DynamicObject), as the caller says;
/// - of many documents each mistake is reported, with the document and the line it is on;
/// - what it costs to decode a text is bounded by its size, whatever its aliases stand for;
/// - kinds and resources lead to each other, and of several versions the most stable and newest is preferred.
///
/// ```
/// use logger_core::Scheme;
/// use logger_core::k8s_openapi::api::core::v1::{ConfigMap, Service};
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
    /// A scheme that knows no types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers `T`, a kind or a list, under the names it has.
    ///
    /// # Errors
    /// Another type has its name, or another kind its resource.
    pub fn add<T>(&mut self) -> Result<(), Conflict>
    where
        T: Object + DeserializeOwned + k8s_openapi::Resource<Scope: HasScope> + k8s_openapi::Metadata<Ty: Meta>,
    {
        self.add_as::<T>(Registration::of::<T>())
    }

    /// Registers a type of a `group_version!`, with its lifecycle. `add_to_scheme` of a version module calls it for each.
    ///
    /// # Errors
    /// Another type has its name, or another kind its resource.
    pub fn add_declared<T>(&mut self) -> Result<(), Conflict>
    where
        T: ApiType
            + Object
            + DeserializeOwned
            + k8s_openapi::Resource<Scope: HasScope>
            + k8s_openapi::Metadata<Ty: Meta>,
    {
        let lifecycle = match T::META {
            TypeMeta::Kind(kind) => kind.lifecycle,
            TypeMeta::List(_) => None,
        };
        self.add_as::<T>(Registration { lifecycle, ..Registration::of::<T>() })
    }

    /// Registers `T` under these names: for a type that does not know them by k8s-openapi's traits.
    ///
    /// # Errors
    /// Another type has its name, or another kind its resource.
    pub fn add_as<T: Object + DeserializeOwned>(&mut self, registration: Registration) -> Result<(), Conflict> {
        let (rust_type, gvk) = (type_name::<T>(), registration.gvk.clone());
        match self.types.get(&gvk) {
            Some(known) if known.rust_type != rust_type => {
                return Err(Conflict::Kind { gvk, registered: known.rust_type, refused: rust_type });
            }
            Some(_) => return Ok(()),
            None => {}
        }
        if let Some(resource) = registration.own_resource() {
            if let Some(registered) = self.kinds.get(&resource) {
                let (registered, refused) = (Box::new(registered.clone()), Box::new(gvk));
                return Err(Conflict::Resource { resource, registered, refused });
            }
            self.kinds.insert(resource, gvk.clone());
        }
        self.types.insert(gvk, Entry { rust_type, registration, decode: decode::<T> });
        Ok(())
    }

    /// Whether a type is registered under this name.
    pub fn recognizes(&self, gvk: &GroupVersionKind) -> bool {
        self.types.contains_key(gvk)
    }

    /// All registered names, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupVersionKind> {
        self.types.keys()
    }

    /// Decodes with this scheme, and deals with the kinds it does not know as said.
    pub fn decoder(&self, unknown: UnknownKinds) -> Decoder<'_> {
        Decoder { scheme: self, unknown }
    }

    /// Decodes a JSON object into the type registered for its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// The text is no JSON object with both fields, no type is registered for them, or the type refuses the rest.
    pub fn decode(&self, json: &[u8]) -> Result<Box<dyn Object>, DecodeError> {
        self.decoder(UnknownKinds::Refuse).decode(json)
    }

    /// Decodes the one YAML document of a text, likewise.
    ///
    /// # Errors
    /// As of [`decode`](Scheme::decode), or there is not exactly one document.
    pub fn decode_yaml(&self, text: &str) -> Result<Box<dyn Object>, DocumentError> {
        self.decoder(UnknownKinds::Refuse).decode_yaml(text)
    }

    /// Decodes every document of a YAML text that is not empty, in order.
    ///
    /// # Errors
    /// What is wrong with each document that cannot be decoded.
    pub fn decode_all(&self, text: &str) -> Result<Vec<Box<dyn Object>>, DecodeErrors> {
        self.decoder(UnknownKinds::Refuse).decode_all(text)
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

fn decode<T: Object + DeserializeOwned>(json: &[u8]) -> Result<Box<dyn Object>, serde_json::Error> {
    Ok(Box::new(serde_json::from_slice::<T>(json)?))
}
