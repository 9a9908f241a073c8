//! Merges the watches of several namespaces.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    object::{ApiObject, ResourceVersion},
    reflector::Event,
    store::Store,
};

/// Merges the events of several reflectors, each for one namespace.
///
/// Guarantees:
/// - the first list is emitted when every namespace is listed;
/// - a relist of one namespace does not change the objects of others;
/// - the emitted version is one up to which the events of all namespaces are complete.
pub(super) struct NamespaceMerger<K> {
    /// One for each reflector; `None` for all namespaces.
    /// One for each reflector; `None` is all there are.
    namespaces: Vec<Option<String>>,
    progress: Mutex<Progress<K>>,
}

struct Progress<K> {
    /// The version of each reflector; `None` before its first list.
    versions: Vec<Option<ResourceVersion>>,
    /// The objects of the first lists, until all are complete.
    listed: Vec<Arc<K>>,
}

impl<K: ApiObject> NamespaceMerger<K> {
    pub(super) fn new(namespaces: Vec<Option<String>>) -> Self {
        let progress = Progress { versions: vec![None; namespaces.len()], listed: Vec::new() };
        NamespaceMerger { namespaces, progress: Mutex::new(progress) }
    }

    /// Converts an event of one reflector to an event of all; `None` while initial lists are missing.
    pub(super) fn merge(&self, source: usize, event: Event<K>, store: &Store<K>) -> Option<Event<K>> {
        if self.namespaces.len() == 1 {
            return Some(event);
        }
        // Ignores poisoning: no panic can leave the progress inconsistent.
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = progress.versions.iter().any(Option::is_none);
        *progress.versions.get_mut(source)? = Some(version_of(&event).clone());
        match event {
            Event::Replaced { objects, .. } if is_first => {
                progress.listed.extend(objects);
                let version = progress.version()?;
                Some(Event::Replaced { objects: std::mem::take(&mut progress.listed), version })
            }
            Event::Replaced { mut objects, .. } => {
                let namespace = self.namespaces.get(source)?.as_deref();
                let is_of_other = |object: &Arc<K>| object.meta().namespace.as_deref() != namespace;
                objects.extend(store.list().into_iter().filter(is_of_other));
                Some(Event::Replaced { objects, version: progress.version()? })
            }
            Event::Applied { object, .. } => Some(Event::Applied { object, version: progress.version()? }),
            Event::Deleted { object, .. } => Some(Event::Deleted { object, version: progress.version()? }),
            Event::Bookmark { .. } => Some(Event::Bookmark { version: progress.version()? }),
        }
    }
}

impl<K> Progress<K> {
    /// Returns the minimum of the versions; `None` while initial lists are missing.
    fn version(&self) -> Option<ResourceVersion> {
        let versions: Option<Vec<_>> = self.versions.iter().map(Option::as_ref).collect();
        let min = |a: &ResourceVersion, b: &ResourceVersion| if b < a { b.clone() } else { a.clone() };
        versions?.into_iter().cloned().reduce(|a, b| min(&a, &b))
    }
}

fn version_of<K>(event: &Event<K>) -> &ResourceVersion {
    match event {
        Event::Replaced { version, .. }
        | Event::Applied { version, .. }
        | Event::Deleted { version, .. }
        | Event::Bookmark { version } => version,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::object::ObjectKey;

    fn object(namespace: &str, name: &str, version: &str) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some(namespace.to_owned());
        object.metadata.name = Some(name.to_owned());
        object.metadata.resource_version = Some(version.to_owned());
        Arc::new(object)
    }

    fn version(version: &str) -> ResourceVersion {
        ResourceVersion::new(version)
    }

    fn listed(objects: &[(&str, &str)], at: &str) -> Event<ConfigMap> {
        let objects = objects.iter().map(|(namespace, name)| object(namespace, name, at)).collect();
        Event::Replaced { objects, version: version(at) }
    }

    fn names(store: &Store<ConfigMap>) -> Vec<String> {
        let objects = store.list();
        let mut names: Vec<_> = objects.iter().map(|object| ObjectKey::from_object(&**object).to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn lists_of_several_namespaces_are_merged_and_independent() {
        let store = Store::default();
        let merger = NamespaceMerger::new(vec![Some("a".to_owned()), Some("b".to_owned())]);
        let apply = |source, event| {
            let event = merger.merge(source, event, &store);
            event.map(|event| store.apply(event).len())
        };
        assert_eq!(apply(1, listed(&[("b", "1"), ("b", "2")], "7")), None, "a is missing");
        assert_eq!(apply(0, listed(&[("a", "1")], "9")), Some(3));
        assert_eq!(store.resource_version(), Some(version("7")), "newer changes of b can be missing");
        assert_eq!(apply(1, Event::Bookmark { version: version("12") }), Some(0));
        assert_eq!(store.resource_version(), Some(version("9")));
        let changed = Event::Applied { object: object("a", "1", "13"), version: version("13") };
        assert_eq!(apply(0, changed), Some(1));
        assert_eq!(store.resource_version(), Some(version("12")));
        assert_eq!(apply(1, listed(&[("b", "3")], "20")), Some(3), "two deletions and one addition");
        assert_eq!(names(&store), ["a/1", "b/3"]);
        assert_eq!(apply(0, Event::Deleted { object: object("a", "1", "30"), version: version("30") }), Some(1));
        assert_eq!((names(&store), store.resource_version()), (vec!["b/3".to_owned()], Some(version("20"))));
    }

    #[test]
    fn events_of_one_watch_are_passed_through() {
        let merger = NamespaceMerger::new(vec![None]);
        let event = merger.merge(0, listed(&[("a", "1"), ("b", "1")], "7"), &Store::default());
        assert!(matches!(event, Some(Event::Replaced { objects, .. }) if objects.len() == 2));
    }
}
