//! Kinds that were declared elsewhere, as the generator and a scheme see them: what `adopt!` emits calls this.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use k8s_openapi::List;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::built_in::BuiltIn;
use crate::deep_copy::DeepCopy;
use crate::group_version::GroupVersionKind;
use crate::meta::{ApiGroup, ApiKind, TypeMeta};
use crate::object::Object;
use crate::scheme::{Conflict, Registration, Scheme};

/// A kind with the group and version it is served in.
#[derive(Clone, Copy, Debug)]
pub struct Adopted {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// What is known of it.
    pub kind: ApiKind,
}

impl Adopted {
    /// A kind of Kubernetes' own, by the name that its type has in the module that adopts it.
    pub const fn built_in<T: BuiltIn>(rust_name: &'static str) -> Self {
        Adopted { group: T::GROUP, version: T::VERSION, kind: ApiKind { rust_name, ..T::API_KIND } }
    }
}

/// The kinds of a module, by group and version. Called once in a generator's life: what it makes lives as long.
pub fn api_groups(module: &'static str, kinds: impl IntoIterator<Item = Adopted>) -> Vec<ApiGroup> {
    let mut groups: BTreeMap<_, Vec<TypeMeta>> = BTreeMap::new();
    for Adopted { group, version, kind } in kinds {
        groups.entry((group, version)).or_default().push(TypeMeta::Kind(kind));
    }
    let group = |((group, version), types): (_, Vec<_>)| ApiGroup {
        group,
        version,
        group_ident: None,
        module,
        types: types.leak(),
    };
    groups.into_iter().map(group).collect()
}

/// The text of a name for as long as the program runs; kube's derive has them as literals.
pub fn literal(name: Cow<'static, str>) -> &'static str {
    match name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => name.leak(),
    }
}

/// Registers a kind of Kubernetes' own, and its list.
///
/// # Errors
/// Another type has the name of one of them, or another kind its resource.
pub fn add_built_in<T: BuiltIn>(scheme: &mut Scheme) -> Result<(), Conflict> {
    scheme.add::<T>()?;
    scheme.add::<List<T>>()
}

/// A type that kube's `CustomResource` derive made, as `adopt!` describes it: it knows its names when it is asked only.
pub trait CustomResource: Object + Clone + Serialize + DeserializeOwned {
    /// The names kube's derive gave it.
    fn registration() -> Registration;
}

/// How a type that kube's derive made comes into a scheme.
pub struct Entry<T>(PhantomData<T>);

impl<T: CustomResource> Entry<T> {
    /// Registers it, and its list.
    ///
    /// # Errors
    /// Another type has the name of one of them, or another kind its resource.
    pub fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict> {
        scheme.add_as::<T>(T::registration())?;
        scheme.add_as::<CustomList<T>>(CustomList::<T>::registration())
    }
}

/// Stands for the method of the same name where the type is none that can be adopted, so that this mistake is told once;
/// no build that calls it succeeds.
#[doc(hidden)]
pub trait Refused {
    fn add_to_scheme(_: &mut Scheme) -> Result<(), Conflict> {
        Ok(())
    }
}

impl<T> Refused for Entry<T> {}

/// A list of a kind that kube's derive made, as a scheme decodes it.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct CustomList<T> {
    /// Version and continuation.
    #[serde(default)]
    pub metadata: ListMeta,
    /// The objects.
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
    use crate::meta::{Scope, Verb};

    #[test]
    fn kinds_come_by_group_and_version() {
        let kinds = [
            Adopted::built_in::<Pod>("Pod"),
            Adopted::built_in::<Deployment>("Rollout"),
            Adopted::built_in::<Namespace>("Namespace"),
        ];
        let groups = api_groups("module", kinds);
        let told: Vec<_> = groups
            .iter()
            .map(|of| (of.group, of.version, of.kinds().map(|kind| kind.plural).collect::<Vec<_>>()))
            .collect();
        assert_eq!(told, [("", "v1", vec!["pods", "namespaces"]), ("apps", "v1", vec!["deployments"])]);
        assert_eq!(groups[0].kinds().map(|kind| kind.scope).collect::<Vec<_>>(), [Scope::Namespaced, Scope::Cluster]);
        assert_eq!(
            groups[1].kinds().map(|kind| (kind.kind, kind.rust_name)).collect::<Vec<_>>(),
            [("Deployment", "Rollout")]
        );
        assert!(groups[1].kinds().all(|kind| kind.grants(Verb::UpdateStatus) && kind.grants(Verb::Apply)));
    }
}
