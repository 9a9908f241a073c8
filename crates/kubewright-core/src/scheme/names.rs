//! Maps kinds to resources and back, and finds the versions of a kind, like Go's REST mapper.

use super::Scheme;
use crate::{
    group_version::{GroupVersionKind, GroupVersionResource, compare_versions},
    meta::{Lifecycle, Scope},
};

impl Scheme {
    /// Returns the resource that serves objects of this kind; for a list that of its kind.
    pub fn resource_for(&self, gvk: &GroupVersionKind) -> Option<GroupVersionResource> {
        let entry = self.types.get(gvk)?;
        entry.registration.resource().or_else(|| self.types.get(&item_kind(gvk)?)?.registration.resource())
    }

    /// Returns the kind of the objects of this resource.
    pub fn kind_for(&self, resource: &GroupVersionResource) -> Option<&GroupVersionKind> {
        self.kinds.get(resource)
    }

    /// Returns the list kind of this kind, if it is registered: the one with the same resource, or with the kind in its
    /// name.
    pub fn list_kind_for(&self, gvk: &GroupVersionKind) -> Option<&GroupVersionKind> {
        let resource = self.types.get(gvk)?.registration.own_resource()?;
        let lists = || self.types.iter().filter(|(_, entry)| entry.registration.is_list);
        let served = lists().find(|(_, list)| list.registration.resource().as_ref() == Some(&resource));
        let named = || lists().find(|(list, _)| item_kind(list).as_ref() == Some(gvk));
        served.or_else(named).map(|(list, _)| list)
    }

    /// Returns the scope of this kind.
    pub fn scope(&self, gvk: &GroupVersionKind) -> Option<Scope> {
        self.types.get(gvk).map(|entry| entry.registration.scope)
    }

    /// Returns the lifecycle of this kind, if declared.
    pub fn lifecycle(&self, gvk: &GroupVersionKind) -> Option<Lifecycle> {
        self.types.get(gvk).and_then(|entry| entry.registration.lifecycle)
    }

    /// Returns all versions of a kind, in order of preference.
    pub fn versions_of(&self, group: &str, kind: &str) -> Vec<&GroupVersionKind> {
        let mut versions: Vec<_> = self.kinds().filter(|gvk| gvk.group == group && gvk.kind == kind).collect();
        versions.sort_by(|a, b| compare_versions(&b.version, &a.version));
        versions
    }

    /// Returns the preferred version of a kind: the newest of the most stable ones.
    pub fn preferred(&self, group: &str, kind: &str) -> Option<&GroupVersionKind> {
        self.versions_of(group, kind).first().copied()
    }
}

/// Returns `Widget` for `WidgetList`.
fn item_kind(list: &GroupVersionKind) -> Option<GroupVersionKind> {
    let kind = list.kind.strip_suffix("List")?;
    Some(GroupVersionKind { kind: kind.to_owned().into(), ..list.clone() })
}
