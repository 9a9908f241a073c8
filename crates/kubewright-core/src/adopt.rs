//! Metadata and registration of kinds that are declared elsewhere: called by the output of `adopt!`.

use std::{any::Any, borrow::Cow, collections::BTreeMap, marker::PhantomData};

use k8s_openapi::{
    List,
    apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta},
};
use serde::{
    de::DeserializeOwned,
    ser::{Serialize, SerializeStruct, Serializer},
};

use crate::{
    apply::Shape,
    built_in::BuiltIn,
    deep_copy::DeepCopy,
    group_version::GroupVersionKind,
    meta::{ApiGroup, ApiKind, DeclaredCrd, TypeMeta},
    object::Object,
    scheme::{Conflict, Registration, Scheme},
};

/// An adopted kind with its group and version.
#[derive(Clone, Copy, Debug)]
pub struct Adopted {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The metadata of the kind.
    pub kind: ApiKind,
}

impl Adopted {
    /// Returns the metadata of a built-in kind, with the name of its type in the module of `adopt!`.
    pub const fn built_in<T: BuiltIn>(rust_name: &'static str) -> Self {
        Adopted { group: T::GROUP, version: T::VERSION, kind: ApiKind { rust_name, ..T::API_KIND } }
    }

    /// Adds the definition that kube's derive declares, and the shape that `#[derive(ApplyConfiguration)]` declares.
    #[must_use]
    pub const fn with_declared(self, crd: Option<DeclaredCrd>, apply: Option<fn() -> Shape>) -> Self {
        Adopted { kind: ApiKind { crd, apply, ..self.kind }, ..self }
    }
}

/// Groups the kinds of a module by group and version. The result is leaked: a generator calls this once.
pub fn api_groups(module: &'static str, kinds: impl IntoIterator<Item = Adopted>) -> Vec<ApiGroup> {
    let mut groups: BTreeMap<_, Vec<TypeMeta>> = BTreeMap::new();
    for Adopted { group, version, kind } in kinds {
        groups.entry((group, version)).or_default().push(TypeMeta::Kind(kind));
    }
    let group = |((group, version), types): (_, Vec<_>)| ApiGroup {
        group,
        version,
        module,
        types: types.leak(),
        ..ApiGroup::DEFAULT
    };
    groups.into_iter().map(group).collect()
}

/// Converts a name into a static string. Those of kube's derive are literals; others are leaked.
pub fn static_str(name: Cow<'static, str>) -> &'static str {
    match name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => name.leak(),
    }
}

/// Registers a built-in kind of Kubernetes and its list.
///
/// # Errors
/// Another type is registered for one of their kinds, or another kind for its resource.
pub fn add_built_in<T: BuiltIn>(scheme: &mut Scheme) -> Result<(), Conflict> {
    scheme.add::<T>()?;
    scheme.add::<List<T>>()
}

/// A type of kube's `CustomResource` derive, whose names are known at run time only. Implemented by `adopt!`.
pub trait CustomResource: Object + Clone + Serialize + DeserializeOwned {
    /// Returns its names according to kube's derive.
    fn registration() -> Registration;
}

/// The registration of a type of kube's derive in a scheme.
pub struct Entry<T>(PhantomData<T>);

impl<T: CustomResource> Entry<T> {
    /// Registers the type and its list.
    ///
    /// # Errors
    /// Another type is registered for one of their kinds, or another kind for its resource.
    pub fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict> {
        scheme.add_as::<T>(T::registration())?;
        scheme.add_as::<CustomList<T>>(CustomList::<T>::registration())
    }
}

/// A placeholder for the method of the same name of a type that cannot be adopted, so that the error is reported once.
/// Builds that call it fail anyway.
#[doc(hidden)]
pub trait NotAdoptable {
    fn add_to_scheme(_: &mut Scheme) -> Result<(), Conflict> {
        Ok(())
    }
}

impl<T> NotAdoptable for Entry<T> {}

/// A list of a kind of kube's derive, as a scheme decodes it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct CustomList<T> {
    /// The metadata of the list.
    #[serde(default)]
    pub metadata: ListMeta,
    /// The items.
    pub items: Vec<T>,
}

impl<T: CustomResource> CustomList<T> {
    fn registration() -> Registration {
        let item = T::registration();
        let gvk = GroupVersionKind { kind: format!("{}List", item.gvk.kind).into(), ..item.gvk };
        Registration { gvk, is_list: true, ..item }
    }
}

impl<T: CustomResource> Serialize for CustomList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let gvk = Self::registration().gvk;
        let mut list = serializer.serialize_struct("List", 4)?;
        list.serialize_field("apiVersion", &gvk.api_version())?;
        list.serialize_field("kind", &gvk.kind)?;
        list.serialize_field("metadata", &self.metadata)?;
        list.serialize_field("items", &self.items)?;
        list.end()
    }
}

impl<T: CustomResource> Object for CustomList<T> {
    fn group_version_kind(&self) -> GroupVersionKind {
        Self::registration().gvk
    }

    fn object_meta(&self) -> Option<&ObjectMeta> {
        None
    }

    fn deep_copy_object(&self) -> Box<dyn Object> {
        Box::new(CustomList { metadata: self.metadata.deep_copy(), items: self.items.clone() })
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

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{Namespace, Pod};

    use super::*;
    use crate::meta::{ClientVerb, Scope};

    #[test]
    fn kinds_are_grouped_by_group_and_version() {
        let kinds = [
            Adopted::built_in::<Pod>("Pod"),
            Adopted::built_in::<Deployment>("Rollout"),
            Adopted::built_in::<Namespace>("Namespace"),
        ];
        let groups = api_groups("module", kinds);
        let plurals: Vec<_> = groups
            .iter()
            .map(|group| (group.group, group.version, group.kinds().map(|kind| kind.plural).collect::<Vec<_>>()))
            .collect();
        assert_eq!(plurals, [("", "v1", vec!["pods", "namespaces"]), ("apps", "v1", vec!["deployments"])]);
        assert_eq!(groups[0].kinds().map(|kind| kind.scope).collect::<Vec<_>>(), [Scope::Namespaced, Scope::Cluster]);
        assert_eq!(
            groups[1].kinds().map(|kind| (kind.kind, kind.rust_name)).collect::<Vec<_>>(),
            [("Deployment", "Rollout")]
        );
        assert!(groups[1].kinds().all(|kind| kind.grants(ClientVerb::UpdateStatus) && kind.grants(ClientVerb::Apply)));
    }
}
