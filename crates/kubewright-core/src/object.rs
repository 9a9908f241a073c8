//! Objects, kinds and lists: the traits that the derives implement and that generic code requires.

use std::{any::Any, fmt::Debug};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::{
    de::DeserializeOwned,
    ser::{Error as _, Serialize, Serializer},
};

use crate::{
    deep_copy::DeepCopy,
    group_version::{GroupVersion, GroupVersionKind, group_version_kind},
    meta,
    wire::Plain,
};

/// A value with an `apiVersion` and a `kind`, as Go's `runtime.Object`. Can be used as `Box<dyn Object>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes object",
    label = "does not implement `Object`, or not all of its supertraits",
    note = "derive `ApiObject`, `Clone` and `Debug` on a kind; `ObjectList`, `Clone`, `Debug` and `DeepCopy` on a list that is written by hand"
)]
pub trait Object: Any + Debug + Send + Sync {
    /// Returns the group, version and kind of its JSON encoding.
    fn group_version_kind(&self) -> GroupVersionKind;

    /// Returns the metadata of an object; `None` for a list.
    fn object_meta(&self) -> Option<&ObjectMeta>;

    /// Returns a deep copy.
    fn deep_copy_object(&self) -> Box<dyn Object>;

    /// Encodes the object as JSON, with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// The object has no JSON encoding, for example because the keys of a map are not strings.
    fn to_json(&self) -> Result<String, serde_json::Error>;

    /// Returns `self` as [`Any`], for downcasts by reference.
    fn as_any(&self) -> &dyn Any;

    /// Returns `self` as [`Any`], for downcasts by value.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl dyn Object {
    /// Returns a reference to the object if it is a `T`.
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        self.as_any().downcast_ref()
    }

    /// Converts the object into a `T`.
    ///
    /// # Errors
    /// The object is not a `T`; the error contains the object.
    pub fn downcast<T: Object>(self: Box<Self>) -> Result<Box<T>, Box<dyn Object>> {
        if self.as_any().is::<T>() { Ok(self.into_any().downcast().expect("the type was checked")) } else { Err(self) }
    }

    /// Encodes the object as YAML, with `apiVersion` and `kind` and with sorted keys.
    ///
    /// # Errors
    /// The object has no JSON or YAML encoding.
    pub fn to_yaml(&self) -> Result<String, EncodeError> {
        let value: serde_json::Value = serde_json::from_str(&self.to_json()?)?;
        Ok(serde_saphyr::to_string(&Plain(&value))?)
    }
}

/// Serialises the JSON encoding of the object in any format.
impl Serialize for dyn Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.to_json().map_err(S::Error::custom)?;
        let value: serde_json::Value = serde_json::from_str(&json).map_err(S::Error::custom)?;
        Plain(&value).serialize(serializer)
    }
}

/// An error of an encoder.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The object has no JSON encoding.
    #[error("cannot encode the object as JSON")]
    Json(#[from] serde_json::Error),
    /// The object has no YAML encoding.
    #[error("cannot encode the object as YAML")]
    Yaml(#[from] serde_saphyr::SerializeError),
}

/// Metadata of an object or of a list.
pub trait Meta {
    /// Whether it is the metadata of a list.
    const IS_LIST: bool;

    /// Returns the metadata of an object; `None` for that of a list.
    fn object_meta(&self) -> Option<&ObjectMeta>;
}

impl Meta for ObjectMeta {
    const IS_LIST: bool = false;

    fn object_meta(&self) -> Option<&ObjectMeta> {
        Some(self)
    }
}

impl Meta for ListMeta {
    const IS_LIST: bool = true;

    fn object_meta(&self) -> Option<&ObjectMeta> {
        None
    }
}

impl<T> Object for T
where
    T: k8s_openapi::Metadata<Ty: Meta> + DeepCopy + Debug + Serialize + Send + Sync + 'static,
{
    fn group_version_kind(&self) -> GroupVersionKind {
        group_version_kind::<T>()
    }

    fn object_meta(&self) -> Option<&ObjectMeta> {
        self.metadata().object_meta()
    }

    fn deep_copy_object(&self) -> Box<dyn Object> {
        Box::new(self.deep_copy())
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl DeepCopy for Box<dyn Object> {
    fn deep_copy(&self) -> Self {
        self.deep_copy_object()
    }
}

/// A type that is listed in a `group_version!`, which determines its group and version.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no API group and version",
    label = "this type is not listed in a `group_version!`",
    note = "list it in the module of its version: `kubewright::group_version! {{ group = \"example.com\", version = \"v1\", kinds = [{Self}] }}`"
)]
pub trait Registered {
    /// The API group and version that serve it.
    const GROUP_VERSION: GroupVersion;
}

/// A root kind: a struct with `metadata` that derives [`Object`](derive@crate::Object).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind",
    label = "this type derives neither `ApiObject` nor `Object`",
    note = "derive `ApiObject` on it: `#[derive(Clone, Debug, ApiObject)]`"
)]
pub trait Kind:
    Object
    + Clone
    + DeepCopy
    + Serialize
    + DeserializeOwned
    + k8s_openapi::Resource
    + k8s_openapi::Metadata<Ty = ObjectMeta>
{
    /// The metadata that its derive and attributes declare.
    const API_KIND: meta::ApiKind;
}

/// The types of an extension method of a kind's client. `N` is the index of the method in declaration order.
pub trait ExtensionMethod<const N: usize> {
    /// The type of the request body.
    type Input;
    /// The type of the response body.
    type Result;
}

/// An index of a kind. `N` is the position of the index in declaration order.
pub trait IndexedBy<const N: usize> {
    /// Returns the index values of the object.
    fn values(&self) -> Vec<String>;
}

/// A kind that has a list type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no list type",
    label = "no type derives `ObjectList` with `items: Vec<{Self}>`",
    note = "derive `ApiObject` on the kind, which generates it, or declare it: `#[derive(Clone, Debug, DeepCopy, ObjectList)] pub struct {Self}List {{ pub metadata: ListMeta, pub items: Vec<{Self}> }}`"
)]
pub trait Listed: Sized {
    /// The list type.
    type List: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// A list of a kind: a struct with `metadata` and items that derives [`ObjectList`](derive@crate::ObjectList).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the list of a kind",
    label = "this type does not derive `ObjectList`",
    note = "derive `ObjectList` on it: `#[derive(Clone, Debug, DeepCopy, ObjectList)]`"
)]
pub trait KindList: Object + Clone + DeepCopy + Serialize + DeserializeOwned {
    /// The kind of the items.
    type Item: Kind;

    /// The metadata that its derive declares.
    const API_LIST: meta::ApiList;

    /// Returns the metadata of the list, such as its resource version and continuation token.
    fn metadata(&self) -> &ListMeta;

    /// Returns the items.
    fn items(&self) -> &[Self::Item];

    /// Converts the list into its items.
    fn into_items(self) -> Vec<Self::Item>;
}
