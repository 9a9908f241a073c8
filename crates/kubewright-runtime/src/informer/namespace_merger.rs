//! Merges the watches of several namespaces.

use parking_lot::Mutex;

use crate::{
    memory::Stored,
    object::{ApiObject, ResourceVersion},
    reflector::StoredEvent,
    store::{SourceVersion, Store},
};

/// Merges the events of several reflectors, each for one namespace.
///
/// Guarantees:
/// - the first list is emitted when every namespace is listed or excluded, and at least one is listed;
/// - a relist of one namespace does not change the objects of others;
/// - an excluded namespace is merged as soon as it is listed.
pub(super) struct NamespaceMerger<K> {
    /// One for each reflector; `None` for all namespaces.
    namespaces: Vec<Option<String>>,
    progress: Mutex<Progress<K>>,
}

/// An event of all namespaces, and the versions of the watches that it advances.
pub(super) struct Merged<K> {
    pub(super) event: StoredEvent<K>,
    pub(super) versions: Vec<SourceVersion>,
}

struct Progress<K> {
    sources: Vec<Source>,
    /// Whether the first list is emitted.
    is_complete: bool,
    /// The objects of the first lists, until it is.
    listed: Vec<Stored<K>>,
    /// The versions of the first lists.
    versions: Vec<SourceVersion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// It is not listed yet.
    Pending,
    Listed,
    /// It cannot be listed, so the other namespaces do not wait for it.
    Excluded,
}

impl<K: ApiObject> NamespaceMerger<K> {
    pub(super) fn new(namespaces: Vec<Option<String>>) -> Self {
        let sources = vec![Source::Pending; namespaces.len()];
        let progress = Progress { sources, is_complete: false, listed: Vec::new(), versions: Vec::new() };
        NamespaceMerger { namespaces, progress: Mutex::new(progress) }
    }

    /// Converts an event of one reflector to an event of all; `None` while initial lists are missing.
    pub(super) fn merge(&self, source: usize, event: StoredEvent<K>, store: &Store<K>) -> Option<Merged<K>> {
        let versions = vec![(source, event.version().clone())];
        if self.namespaces.len() == 1 {
            return Some(Merged { event, versions });
        }
        let mut progress = self.progress.lock();
        match event {
            StoredEvent::Replaced { objects, .. } if !progress.is_complete => {
                *progress.sources.get_mut(source)? = Source::Listed;
                progress.listed.extend(objects);
                progress.versions.extend(versions);
                progress.complete()
            }
            _ if !progress.is_complete => None,
            StoredEvent::Replaced { mut objects, version } => {
                *progress.sources.get_mut(source)? = Source::Listed;
                let namespace = self.namespaces.get(source)?.as_deref().unwrap_or_default();
                let is_of_other = |object: &Stored<K>| object.key().0 != namespace;
                objects.extend(store.all_stored().into_iter().filter(is_of_other));
                Some(Merged { event: StoredEvent::Replaced { objects, version }, versions })
            }
            event => Some(Merged { event, versions }),
        }
    }

    /// Stops waiting for the first list of a reflector, which is forbidden. Returns the first list of the others, if
    /// they waited for it.
    pub(super) fn exclude(&self, source: usize) -> Option<Merged<K>> {
        let mut progress = self.progress.lock();
        let state = progress.sources.get_mut(source).filter(|state| **state == Source::Pending)?;
        *state = Source::Excluded;
        progress.complete()
    }
}

impl<K> Progress<K> {
    /// Returns the first list if no initial list is missing.
    fn complete(&mut self) -> Option<Merged<K>> {
        let is_complete = self.sources.contains(&Source::Listed) && !self.sources.contains(&Source::Pending);
        (is_complete && !self.is_complete).then(|| {
            self.is_complete = true;
            let (objects, versions) = (std::mem::take(&mut self.listed), std::mem::take(&mut self.versions));
            let version = versions.first().map_or_else(|| ResourceVersion::new(""), |(_, version)| version.clone());
            Merged { event: StoredEvent::Replaced { objects, version }, versions }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::object::ObjectKey;

    fn object(namespace: &str, name: &str, version: &str) -> Stored<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some(namespace.to_owned());
        object.metadata.name = Some(name.to_owned());
        object.metadata.resource_version = Some(version.to_owned());
        Arc::new(object).into()
    }

    fn version(version: &str) -> ResourceVersion {
        ResourceVersion::new(version)
    }

    fn listed(objects: &[(&str, &str)], at: &str) -> StoredEvent<ConfigMap> {
        let objects = objects.iter().map(|(namespace, name)| object(namespace, name, at)).collect();
        StoredEvent::Replaced { objects, version: version(at) }
    }

    fn names(store: &Store<ConfigMap>) -> Vec<String> {
        let objects = store.list();
        let mut names: Vec<_> = objects.iter().map(|object| ObjectKey::from_object(&**object).to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn lists_of_several_namespaces_are_merged_and_independent() {
        let (store, merger) = two_namespaces();
        let apply = |source, event| {
            let merged = merger.merge(source, event, &store);
            merged.map(|Merged { event, versions }| store.apply_from(event, versions).len())
        };
        assert_eq!(apply(1, listed(&[("b", "1"), ("b", "2")], "7")), None, "a is missing");
        assert_eq!(apply(0, listed(&[("a", "1")], "9")), Some(3));
        assert_eq!(store.resource_version(), Some(version("7")), "newer changes of b can be missing");
        assert_eq!(apply(1, StoredEvent::Bookmark { version: version("12") }), Some(0));
        assert_eq!(store.resource_version(), Some(version("9")));
        let changed = StoredEvent::Applied { object: object("a", "1", "13"), version: version("13") };
        assert_eq!(apply(0, changed), Some(1));
        assert_eq!(store.resource_version(), Some(version("12")));
        assert_eq!(apply(1, listed(&[("b", "3")], "20")), Some(3), "two deletions and one addition");
        assert_eq!(names(&store), ["a/1", "b/3"]);
        assert_eq!(apply(0, StoredEvent::Deleted { object: object("a", "1", "30"), version: version("30") }), Some(1));
        assert_eq!((names(&store), store.resource_version()), (vec!["b/3".to_owned()], Some(version("20"))));
    }

    fn two_namespaces() -> (Store<ConfigMap>, NamespaceMerger<ConfigMap>) {
        let (store, namespaces) = (Store::default(), ["a", "b"].map(|name| Some(name.to_owned())));
        store.set_namespaces(namespaces.clone());
        (store, NamespaceMerger::new(namespaces.into()))
    }

    #[test]
    fn an_excluded_namespace_does_not_delay_the_others_and_is_merged_when_it_is_listed() {
        let (store, merger) = two_namespaces();
        let apply = |Merged { event, versions }: Merged<ConfigMap>| store.apply_from(event, versions).len();
        assert!(merger.exclude(1).is_none(), "a is not listed yet");
        assert_eq!(merger.merge(0, listed(&[("a", "1")], "9"), &store).map(apply), Some(1));
        assert_eq!(store.resource_version(), Some(version("9")));
        assert!(merger.exclude(0).is_none() && merger.exclude(1).is_none());
        assert_eq!(merger.merge(1, listed(&[("b", "1")], "7"), &store).map(apply), Some(1));
        assert_eq!((names(&store).len(), store.resource_version()), (2, Some(version("7"))));
    }

    #[test]
    fn the_others_are_emitted_when_the_last_one_is_excluded() {
        let (store, merger) = two_namespaces();
        assert!(merger.merge(0, listed(&[("a", "1")], "9"), &store).is_none());
        let Some(Merged { event: StoredEvent::Replaced { objects, .. }, .. }) = merger.exclude(1) else {
            panic!("the first list is complete")
        };
        assert_eq!(objects.len(), 1);
        let (_, merger) = two_namespaces();
        assert!(merger.exclude(0).is_none() && merger.exclude(1).is_none(), "none is listed");
    }

    #[test]
    fn events_of_one_watch_are_passed_through() {
        let merger = NamespaceMerger::new(vec![None]);
        let merged = merger.merge(0, listed(&[("a", "1"), ("b", "1")], "7"), &Store::default());
        assert!(
            matches!(merged, Some(Merged { event: StoredEvent::Replaced { objects, .. }, .. }) if objects.len() == 2)
        );
    }
}
