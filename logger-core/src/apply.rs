//! Server-side apply: what an apply configuration is, and what the types it configures look like to the generator.

mod extract;
mod shape;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use extract::ExtractError;
pub(crate) use shape::applied_by_schema;
pub use shape::{Applied, AppliedField, Atomic, DerivedShape, Field, FieldOf, NoShape, Shape, Struct, Type, Whole};

/// What a field manager wants of an object of one kind: it owns what is set, and leaves alone what is not.
///
/// The generator makes one for each kind that derives `ApplyConfiguration`. It promises:
/// - it has a name, so there is an object it is about;
/// - what is not set is not sent;
/// - what was extracted and is applied again changes nothing.
pub trait ApplyConfiguration: Serialize + DeserializeOwned {
    /// The kind it configures.
    type Kind: k8s_openapi::Metadata<Ty = ObjectMeta> + Serialize;

    /// Its name, namespace and other metadata.
    fn metadata(&self) -> &Metadata;

    /// What this manager owns of the object, by its `managedFields`: to be changed and applied again. A manager that
    /// owns nothing yet gets the name alone. The subresource is that through which it was applied, such as `status`.
    ///
    /// Ownership of an empty struct cannot be told from that of a whole one, since `managedFields` write both alike: all
    /// of it is extracted.
    ///
    /// # Errors
    /// The object has no name, or what is owned of it is no configuration of this kind.
    fn extract_from(object: &Self::Kind, manager: &str, subresource: Option<&str>) -> Result<Self, ExtractError> {
        extract::extract(object, manager, subresource)
    }
}

/// The metadata of an apply configuration. Its name is always there.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// The labels to have, beside those that others set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// The annotations to have, beside those that others set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// The finalizers to have, beside those that others set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizers: Option<Vec<String>>,
    /// The owners to have, beside those that others set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_references: Option<Vec<OwnerReference>>,
    /// Apply only to the object with this uid: one that was made anew under the name is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Apply only if nobody changed the object since this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

impl Metadata {
    /// Of an object in a namespace.
    pub fn namespaced(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Metadata { namespace: Some(namespace.into()), ..Self::cluster(name) }
    }

    /// Of an object of the cluster.
    pub fn cluster(name: impl Into<String>) -> Self {
        Metadata {
            name: name.into(),
            namespace: None,
            labels: None,
            annotations: None,
            finalizers: None,
            owner_references: None,
            uid: None,
            resource_version: None,
        }
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The object's namespace; `None` for one of the cluster.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }
}

/// The `apiVersion` of a kind: written always, and checked when it is read.
pub struct ApiVersion<K>(PhantomData<fn() -> K>);

/// The `kind` of a kind: written always, and checked when it is read.
pub struct KindName<K>(PhantomData<fn() -> K>);

macro_rules! fixed_text {
    ($($ty:ident: $text:ident)*) => {$(
        impl<K> Clone for $ty<K> {
            fn clone(&self) -> Self {
                Self::default()
            }
        }

        impl<K> Default for $ty<K> {
            fn default() -> Self {
                $ty(PhantomData)
            }
        }

        impl<K> PartialEq for $ty<K> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }

        impl<K: k8s_openapi::Resource> fmt::Debug for $ty<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                K::$text.fmt(f)
            }
        }

        impl<K: k8s_openapi::Resource> Serialize for $ty<K> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(K::$text)
            }
        }

        impl<'de, K: k8s_openapi::Resource> Deserialize<'de> for $ty<K> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match String::deserialize(deserializer)? {
                    text if text == K::$text => Ok(Self::default()),
                    text => Err(D::Error::invalid_value(Unexpected::Str(&text), &K::$text)),
                }
            }
        }
    )*};
}

fixed_text! { ApiVersion: API_VERSION KindName: KIND }

/// Appends to a list of a configuration.
pub fn append<T, I: Into<T>>(list: &mut Option<Vec<T>>, values: impl IntoIterator<Item = I>) {
    list.get_or_insert_default().extend(values.into_iter().map(Into::into));
}

/// Merges entries into a map of a configuration: a key that is there gets the new value.
pub fn merge<T, K: Into<String>, I: Into<T>>(
    map: &mut Option<BTreeMap<String, T>>,
    entries: impl IntoIterator<Item = (K, I)>,
) {
    extend(map.get_or_insert_default(), entries);
}

/// Merges entries into a map that is always there.
pub fn extend<T, K: Into<String>, I: Into<T>>(
    map: &mut BTreeMap<String, T>,
    entries: impl IntoIterator<Item = (K, I)>,
) {
    map.extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())));
}
