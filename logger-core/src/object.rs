//! Objects, kinds and lists: the traits the derives implement and generic code asks for.

use std::any::Any;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, Serialize, Serializer};

use crate::deep_copy::DeepCopy;
use crate::group_version::{GroupVersion, GroupVersionKind};
use crate::meta;
use crate::scheme::{self, Conflict, Scheme};
use crate::wire::Plain;

/// Anything with an `apiVersion` and a `kind`: Go's `runtime.Object`. Usable as `Box<dyn Object>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes object",
    label = "no `Object`, or not all that it asks for",
    note = "derive `Object` on a kind and `ObjectList` on its list, and `Clone`, `Debug` and `DeepCopy` on both"
)]
pub trait Object: Any + Debug + Send + Sync {
    /// The group, version and kind it is written with.
    fn group_version_kind(&self) -> GroupVersionKind;

    /// Its metadata; `None` for a list.
    fn object_meta(&self) -> Option<&ObjectMeta>;

    /// A copy that shares nothing with it.
    fn deep_copy_object(&self) -> Box<dyn Object>;

    /// Its JSON, with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// JSON cannot hold it: a map has keys that are no text.
    fn to_json(&self) -> Result<String, serde_json::Error>;

    /// Itself, to be downcast.
    fn as_any(&self) -> &dyn Any;

    /// Itself, to be downcast by value.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl dyn Object {
    /// Itself, if it is a `T`.
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        self.as_any().downcast_ref()
    }

    /// Itself, if it is a `T`; otherwise it is given back.
    ///
    /// # Errors
    /// It is no `T`.
    pub fn downcast<T: Object>(self: Box<Self>) -> Result<Box<T>, Box<dyn Object>> {
        if self.as_any().is::<T>() { Ok(self.into_any().downcast().expect("it is one")) } else { Err(self) }
    }

    /// Its YAML, with `apiVersion` and `kind`, keys sorted.
    ///
    /// # Errors
    /// JSON or YAML cannot hold it.
    pub fn to_yaml(&self) -> Result<String, EncodeError> {
        let value: serde_json::Value = serde_json::from_str(&self.to_json()?)?;
        Ok(serde_saphyr::to_string(&Plain(&value))?)
    }
}

/// As its JSON, whatever the format.
impl Serialize for dyn Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.to_json().map_err(S::Error::custom)?;
        let value: serde_json::Value = serde_json::from_str(&json).map_err(S::Error::custom)?;
        Plain(&value).serialize(serializer)
    }
}

/// Why an object could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// JSON cannot hold it.
    #[error("it cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// YAML cannot hold it.
    #[error("it cannot be written as YAML")]
    Yaml(#[from] serde_saphyr::SerializeError),
}

/// The metadata of an object or of a list.
pub trait Meta {
    /// Whether it is that of a list.
    const IS_LIST: bool;

    /// The metadata of an object; `None` for that of a list.
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
        scheme::group_version_kind::<T>()
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

/// A type that a `group_version!` lists: it knows its group and version.
#[diagnostic::on_unimplemented(
    message = "`{Self}` belongs to no group and version",
    label = "this type is not listed in a `group_version!`",
    note = "list it in its version's module: `logger_core::group_version! {{ group = \"example.com\", version = \"v1\", kinds = [{Self}] }}`"
)]
pub trait Registered {
    /// The group and version it is served in.
    const GROUP_VERSION: GroupVersion;
}

/// What a `group_version!` may list: a kind or a list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a kind nor a list",
    label = "cannot be listed in `group_version!`",
    note = "derive `Object` on a kind and `ObjectList` on its list"
)]
pub trait ApiType {
    /// What its derive knows of it.
    const META: meta::TypeMeta;

    /// Registers it.
    ///
    /// # Errors
    /// Another type is registered under its group, version and kind.
    fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict>;
}

/// A root kind: a struct with `metadata` that derives [`Object`](derive@crate::Object).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind",
    label = "this type does not derive `Object`",
    note = "derive `Object` on it: `#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]`"
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
    /// What its derive and attributes say.
    const API_KIND: meta::ApiKind;
}

/// The types of a further method of a kind's client; `N` counts the methods in the order they are declared.
pub trait ExtensionMethod<const N: usize> {
    /// What is sent.
    type Input;
    /// What comes back.
    type Result;
}

/// An index of a kind; `N` counts the indexes in the order they are declared.
pub trait IndexedBy<const N: usize> {
    /// Under which values an object is found.
    fn values(&self) -> Vec<String>;
}

/// A kind that has a list type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no list type",
    label = "no type derives `ObjectList` with `items: Vec<{Self}>`",
    note = "declare it: `#[derive(Clone, Debug, DeepCopy, ObjectList)] pub struct {Self}List {{ pub metadata: ListMeta, pub items: Vec<{Self}> }}`"
)]
pub trait Listed: Sized {
    /// Its list type.
    type List: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// A list of a kind: a struct with `metadata` and items that derives [`ObjectList`](derive@crate::ObjectList).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the list of a kind",
    label = "this type does not derive `ObjectList`",
    note = "derive `ObjectList` on it: `#[derive(Clone, Debug, DeepCopy, ObjectList)]`"
)]
pub trait KindList: Object + Clone + DeepCopy + Serialize + DeserializeOwned {
    /// The kind listed.
    type Item: Kind;

    /// What its derive says.
    const API_LIST: meta::ApiList;

    /// Version and continuation of the list.
    fn metadata(&self) -> &ListMeta;

    /// The objects.
    fn items(&self) -> &[Self::Item];

    /// The objects, taken out.
    fn into_items(self) -> Vec<Self::Item>;
}
