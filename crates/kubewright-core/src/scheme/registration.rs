//! The registration of a type in a scheme, and its conflicts.

use std::borrow::Cow;

use crate::{
    group_version::{GroupVersionKind, GroupVersionResource, group_version_kind},
    meta::{HasScope, Lifecycle, Scope},
    object::Meta,
};

/// The registration of a type in a scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// The group, version and kind.
    pub gvk: GroupVersionKind,
    /// The resource name in URLs; empty if the type does not have it, like the lists of k8s-openapi.
    pub plural: Cow<'static, str>,
    /// The scope of the objects.
    pub scope: Scope,
    /// Whether it is a list.
    pub is_list: bool,
    /// The lifecycle, if declared.
    pub lifecycle: Option<Lifecycle>,
}

impl Registration {
    /// Returns the registration of a kind or list according to its traits.
    pub const fn new<T>() -> Self
    where
        T: k8s_openapi::Resource<Scope: HasScope> + k8s_openapi::Metadata<Ty: Meta>,
    {
        Registration {
            gvk: group_version_kind::<T>(),
            plural: Cow::Borrowed(T::URL_PATH_SEGMENT),
            scope: <T::Scope as HasScope>::SCOPE,
            is_list: <T::Ty as Meta>::IS_LIST,
            lifecycle: None,
        }
    }

    /// Returns the resource that serves it, if known.
    pub(super) fn resource(&self) -> Option<GroupVersionResource> {
        let GroupVersionKind { group, version, .. } = self.gvk.clone();
        (!self.plural.is_empty()).then(|| GroupVersionResource { group, version, resource: self.plural.clone() })
    }

    /// Returns the resource whose objects have this kind; `None` for a list.
    pub(super) fn own_resource(&self) -> Option<GroupVersionResource> {
        if self.is_list { None } else { self.resource() }
    }
}

/// A conflict of two registrations.
#[derive(Debug, thiserror::Error)]
pub enum Conflict {
    /// Two types have the same group, version and kind.
    #[error("cannot register `{rejected}` for {gvk}: `{registered}` is already registered")]
    Kind {
        /// The group, version and kind.
        gvk: GroupVersionKind,
        /// The registered Rust type.
        registered: &'static str,
        /// The rejected Rust type.
        rejected: &'static str,
    },
    /// Two kinds have the same resource.
    #[error("cannot register {rejected} for {resource}: it is the resource of {registered}; use another plural")]
    Resource {
        /// The resource.
        resource: GroupVersionResource,
        /// The registered kind.
        registered: Box<GroupVersionKind>,
        /// The rejected kind.
        rejected: Box<GroupVersionKind>,
    },
}
