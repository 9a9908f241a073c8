//! Permissions of a controller that do not follow from its watches.

use std::marker::PhantomData;

use kubewright_core::description::{Permission, Verb};

use crate::object::{ApiObject, describe_kind};

/// A permission that a reconciler needs besides those that follow from the watches of its controller: see
/// [`ControllerBuilder::allow`](super::ControllerBuilder::allow).
///
/// ```
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
/// use kubewright_runtime::controller::{Allow, Verb};
///
/// let read = Allow::<Deployment>::verbs([Verb::Get]);
/// let evict = Allow::<Pod>::verbs([Verb::Create]).subresource("eviction");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a permission is declared when it is passed to a builder"]
pub struct Allow<K> {
    verbs: Vec<Verb>,
    subresource: Option<&'static str>,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> Allow<K> {
    /// Permits these verbs on the objects of this kind.
    pub fn verbs(verbs: impl IntoIterator<Item = Verb>) -> Self {
        Allow { verbs: verbs.into_iter().collect(), subresource: None, kind: PhantomData }
    }

    /// Permits the verbs on the status instead.
    pub fn status(self) -> Self {
        self.subresource("status")
    }

    /// Permits the verbs on a subresource instead, such as `eviction`.
    pub fn subresource(mut self, name: &'static str) -> Self {
        self.subresource = Some(name);
        self
    }
}

impl<K: ApiObject> From<Allow<K>> for Permission {
    fn from(allow: Allow<K>) -> Self {
        let kind = describe_kind::<K>();
        match allow.subresource {
            Some(subresource) => kind.subresource_permission(subresource, allow.verbs),
            None => kind.permission(allow.verbs),
        }
    }
}
