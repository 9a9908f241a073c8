//! What a scheme is told of a type, and why it may refuse it.

use std::borrow::Cow;

use super::group_version_kind;
use crate::group_version::{GroupVersionKind, GroupVersionResource};
use crate::meta::{HasScope, Lifecycle, Scope};
use crate::object::Meta;

/// What a scheme knows of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// What it is written with.
    pub gvk: GroupVersionKind,
    /// The resource name in URLs; empty if the type does not know it, as k8s-openapi's lists do not.
    pub plural: Cow<'static, str>,
    /// Where the objects live.
    pub scope: Scope,
    /// Whether it is a list.
    pub is_list: bool,
    /// Since when it is served and how long, if that was said.
    pub lifecycle: Option<Lifecycle>,
}

impl Registration {
    /// What a kind or list says of itself.
    pub const fn of<T>() -> Self
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

    /// Where it is served, if that is known.
    pub(super) fn resource(&self) -> Option<GroupVersionResource> {
        let GroupVersionKind { group, version, .. } = self.gvk.clone();
        (!self.plural.is_empty()).then(|| GroupVersionResource { group, version, resource: self.plural.clone() })
    }

    /// The resource whose objects are of this kind; a list has none of its own.
    pub(super) fn own_resource(&self) -> Option<GroupVersionResource> {
        if self.is_list { None } else { self.resource() }
    }
}

/// Why a type could not be registered.
#[derive(Debug, thiserror::Error)]
pub enum Conflict {
    /// Two types claim the same group, version and kind.
    #[error("{gvk} is registered as `{registered}`, so it cannot be `{refused}` too")]
    Kind {
        /// The name both claim.
        gvk: GroupVersionKind,
        /// The Rust type that has it.
        registered: &'static str,
        /// The Rust type that asked for it.
        refused: &'static str,
    },
    /// Two kinds claim the same resource.
    #[error("{resource} is that of {registered}, so it cannot be that of {refused} too; give one another plural")]
    Resource {
        /// The resource both claim.
        resource: GroupVersionResource,
        /// The kind that has it.
        registered: Box<GroupVersionKind>,
        /// The kind that asked for it.
        refused: Box<GroupVersionKind>,
    },
}
