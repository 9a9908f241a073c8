//! Server-side apply: apply configurations, and the shapes of types for their generator.

mod extract;
mod shape;

use std::{borrow::Cow, collections::BTreeMap, fmt, marker::PhantomData};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error, Unexpected},
};

pub use extract::ExtractError;
pub(crate) use shape::applied_by_schema;
pub use shape::{
    Applied, AppliedField, Atomic, AtomicValue, DerivedShape, Field, FieldOf, NoShape, Shape, Struct, Type,
};

/// A kind that has an apply configuration or owns objects: its names, and the metadata of its objects.
///
/// Kinds of k8s-openapi and kinds that derive `Object` implement it; `adopt!` implements it for kinds of kube's derive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a Kubernetes object",
    label = "does not implement `ObjectKind`",
    note = "derive `Object` on it, or list a type of kube's `CustomResource` derive in `adopt!`"
)]
pub trait ObjectKind {
    /// Returns the `apiVersion`, such as `example.com/v1`.
    fn object_api_version() -> Cow<'static, str>;

    /// Returns the `kind`, such as `Widget`.
    fn object_kind() -> Cow<'static, str>;

    /// Returns the metadata of an object.
    fn object_metadata(&self) -> &ObjectMeta;
}

impl<K: k8s_openapi::Metadata<Ty = ObjectMeta>> ObjectKind for K {
    fn object_api_version() -> Cow<'static, str> {
        Cow::Borrowed(K::API_VERSION)
    }

    fn object_kind() -> Cow<'static, str> {
        Cow::Borrowed(K::KIND)
    }

    fn object_metadata(&self) -> &ObjectMeta {
        self.metadata()
    }
}

/// The desired fields of an object, which a field manager applies and then owns.
///
/// The generator declares an implementation for each kind that derives `ApplyConfiguration`. Guarantees:
/// - It has the name of an object.
/// - Unset fields are not sent.
/// - Applying an extracted configuration again changes nothing.
pub trait ApplyConfiguration: Serialize + DeserializeOwned {
    /// The kind it configures.
    type Kind: ObjectKind + Serialize;

    /// Returns name, namespace and other metadata.
    fn metadata(&self) -> &Metadata;

    /// Returns the metadata, to be changed.
    fn metadata_mut(&mut self) -> &mut Metadata;

    /// Makes an object the owner, and the controller, of the configured object: the garbage collector deletes the
    /// configured object after its owner. The owner is an object from the server, in the same namespace or
    /// cluster-scoped.
    #[must_use]
    fn with_owner(self, owner: &impl ObjectKind) -> Self {
        self.with_owner_reference(controller_reference(owner))
    }

    /// Adds an owner reference, in place of another one with the same UID.
    #[must_use]
    fn with_owner_reference(mut self, reference: OwnerReference) -> Self {
        let references = self.metadata_mut().owner_references.get_or_insert_default();
        references.retain(|other| other.uid != reference.uid);
        references.push(reference);
        self
    }

    /// Adds finalizers. Finalizers that it contains already are not added again.
    #[must_use]
    fn with_finalizers<I: Into<String>>(mut self, finalizers: impl IntoIterator<Item = I>) -> Self {
        let all = self.metadata_mut().finalizers.get_or_insert_default();
        for finalizer in finalizers.into_iter().map(Into::into) {
            if !all.contains(&finalizer) {
                all.push(finalizer);
            }
        }
        self
    }

    /// Extracts the fields that this manager owns according to the object's `managedFields`, to be changed and applied
    /// again. For a manager without fields it has the name only. The subresource is the one that it was applied to,
    /// such as `status`.
    ///
    /// `managedFields` do not distinguish the ownership of an empty struct from that of all of its fields. In this case
    /// all fields are extracted.
    ///
    /// # Errors
    /// The object has no name, or the owned fields are not a valid configuration of this kind.
    fn extract_from(object: &Self::Kind, manager: &str, subresource: Option<&str>) -> Result<Self, ExtractError> {
        extract::extract(object, manager, subresource)
    }
}

fn controller_reference<K: ObjectKind>(owner: &K) -> OwnerReference {
    let metadata = owner.object_metadata();
    OwnerReference {
        api_version: K::object_api_version().into_owned(),
        kind: K::object_kind().into_owned(),
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The metadata of an apply configuration. It always has a name.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// The applied labels, in addition to those of other managers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// The applied annotations, in addition to those of other managers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// The applied finalizers, in addition to those of other managers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizers: Option<Vec<String>>,
    /// The applied owner references, in addition to those of other managers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_references: Option<Vec<OwnerReference>>,
    /// The precondition that the object has this UID, and is not another object that was created with the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The precondition that the object has not changed since this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

impl Metadata {
    /// Creates the metadata of a namespaced object.
    pub fn namespaced(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Metadata { namespace: Some(namespace.into()), ..Self::cluster(name) }
    }

    /// Creates the metadata of a cluster-scoped object.
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

    /// Returns the name of the object.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the namespace of the object; `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }
}

/// The `apiVersion` of a kind, which is serialised always and validated on deserialisation.
pub struct ApiVersion<K>(PhantomData<fn() -> K>);

/// The `kind` of a kind, which is serialised always and validated on deserialisation.
pub struct KindName<K>(PhantomData<fn() -> K>);

macro_rules! constant_string {
    ($($ty:ident: $name:ident)*) => {$(
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

        impl<K: ObjectKind> fmt::Debug for $ty<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*K::$name(), f)
            }
        }

        impl<K: ObjectKind> Serialize for $ty<K> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&K::$name())
            }
        }

        impl<'de, K: ObjectKind> Deserialize<'de> for $ty<K> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (text, expected) = (String::deserialize(deserializer)?, K::$name());
                match text == expected {
                    true => Ok(Self::default()),
                    false => Err(D::Error::invalid_value(Unexpected::Str(&text), &&*expected)),
                }
            }
        }
    )*};
}

constant_string! { ApiVersion: object_api_version KindName: object_kind }

/// Appends to a list of a configuration.
pub fn append<T, I: Into<T>>(list: &mut Option<Vec<T>>, values: impl IntoIterator<Item = I>) {
    list.get_or_insert_default().extend(values.into_iter().map(Into::into));
}

/// Merges entries into a map of a configuration. Values of existing keys are replaced.
pub fn merge<T, K: Into<String>, I: Into<T>>(
    map: &mut Option<BTreeMap<String, T>>,
    entries: impl IntoIterator<Item = (K, I)>,
) {
    extend(map.get_or_insert_default(), entries);
}

/// Merges entries into a map that is not optional.
pub fn extend<T, K: Into<String>, I: Into<T>>(
    map: &mut BTreeMap<String, T>,
    entries: impl IntoIterator<Item = (K, I)>,
) {
    map.extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())));
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    #[derive(Deserialize, Serialize)]
    struct SecretApply {
        metadata: Metadata,
    }

    impl ApplyConfiguration for SecretApply {
        type Kind = Secret;

        fn metadata(&self) -> &Metadata {
            &self.metadata
        }

        fn metadata_mut(&mut self) -> &mut Metadata {
            &mut self.metadata
        }
    }

    fn owner(uid: &str) -> ConfigMap {
        let (name, uid) = (Some("owner".to_owned()), Some(uid.to_owned()));
        ConfigMap { metadata: ObjectMeta { name, uid, ..ObjectMeta::default() }, ..ConfigMap::default() }
    }

    #[test]
    fn an_owner_is_added_once() {
        let secret = SecretApply { metadata: Metadata::namespaced("a", "default") };
        let secret = secret.with_owner(&owner("1")).with_owner(&owner("2")).with_owner(&owner("1"));
        let references = secret.metadata.owner_references.unwrap();
        assert_eq!(references.iter().map(|one| one.uid.as_str()).collect::<Vec<_>>(), ["2", "1"]);
        let OwnerReference { api_version, kind, name, controller, block_owner_deletion, .. } = &references[0];
        assert_eq!([api_version, kind, name], ["v1", "ConfigMap", "owner"]);
        assert_eq!((*controller, *block_owner_deletion), (Some(true), Some(true)));
    }

    #[test]
    fn finalizers_are_added_once() {
        let secret = SecretApply { metadata: Metadata::namespaced("a", "default") };
        let secret = secret.with_finalizers(["e.com/a"]).with_finalizers(["e.com/b", "e.com/a"]);
        assert_eq!(secret.metadata.finalizers.unwrap(), ["e.com/a", "e.com/b"]);
    }
}
