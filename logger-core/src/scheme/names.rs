//! From kinds to resources and back, and between the versions of a kind: what Go's REST mapper knows.

use super::Scheme;
use crate::group_version::{GroupVersionKind, GroupVersionResource, compare_versions};
use crate::meta::{Lifecycle, Scope};

impl Scheme {
    /// The resource that objects of this kind are served as; that of its kind for a list.
    pub fn resource_for(&self, gvk: &GroupVersionKind) -> Option<GroupVersionResource> {
        let entry = self.types.get(gvk)?;
        entry.registration.resource().or_else(|| self.types.get(&item_kind(gvk)?)?.registration.resource())
    }

    /// The kind of the objects of this resource.
    pub fn kind_for(&self, resource: &GroupVersionResource) -> Option<&GroupVersionKind> {
        self.kinds.get(resource)
    }

    /// The list of this kind, if it is registered: the one that is served as the same resource, or is named after the kind.
    pub fn list_kind_for(&self, gvk: &GroupVersionKind) -> Option<&GroupVersionKind> {
        let resource = self.types.get(gvk)?.registration.own_resource()?;
        let lists = || self.types.iter().filter(|(_, entry)| entry.registration.is_list);
        let served = lists().find(|(_, list)| list.registration.resource().as_ref() == Some(&resource));
        let named = || lists().find(|(list, _)| item_kind(list).as_ref() == Some(gvk));
        served.or_else(named).map(|(list, _)| list)
    }

    /// Where objects of this kind live.
    pub fn scope(&self, gvk: &GroupVersionKind) -> Option<Scope> {
        self.types.get(gvk).map(|entry| entry.registration.scope)
    }

    /// Since when this kind is served and how long, if its declaration says so.
    pub fn lifecycle(&self, gvk: &GroupVersionKind) -> Option<Lifecycle> {
        self.types.get(gvk).and_then(|entry| entry.registration.lifecycle)
    }

    /// All versions of a kind, the preferred one first.
    pub fn versions_of(&self, group: &str, kind: &str) -> Vec<&GroupVersionKind> {
        let mut versions: Vec<_> = self.kinds().filter(|gvk| gvk.group == group && gvk.kind == kind).collect();
        versions.sort_by(|a, b| compare_versions(&b.version, &a.version));
        versions
    }

    /// The version of a kind to use where any will do: the most stable, and of these the newest.
    pub fn preferred(&self, group: &str, kind: &str) -> Option<&GroupVersionKind> {
        self.versions_of(group, kind).first().copied()
    }
}

/// `Widget` for `WidgetList`.
fn item_kind(list: &GroupVersionKind) -> Option<GroupVersionKind> {
    let kind = list.kind.strip_suffix("List")?;
    Some(GroupVersionKind { kind: kind.to_owned().into(), ..list.clone() })
}
