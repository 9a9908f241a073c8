//! The watches of several namespaces, told as one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::object::ApiObject;
use crate::reflector::Event;
use crate::store::Store;
use crate::version::ResourceVersion;

/// Joins what several reflectors tell, each of another namespace.
///
/// It promises:
/// - the first list is told when every namespace was listed;
/// - a namespace that is listed anew leaves the objects of the others as they are;
/// - the version that is told is one up to which nothing is missing of any namespace.
pub(super) struct Join<K> {
    /// One for each reflector; `None` is all there are.
    namespaces: Vec<Option<String>>,
    progress: Mutex<Progress<K>>,
}

struct Progress<K> {
    /// How far each is; `None` before its first list.
    versions: Vec<Option<ResourceVersion>>,
    /// What the first lists brought, until all are there.
    listed: Vec<Arc<K>>,
}

impl<K: ApiObject> Join<K> {
    pub(super) fn new(namespaces: Vec<Option<String>>) -> Self {
        let progress = Progress { versions: vec![None; namespaces.len()], listed: Vec::new() };
        Join { namespaces, progress: Mutex::new(progress) }
    }

    /// What an event of one of them is to all; nothing while lists are missing. Until then, each tells its list alone.
    pub(super) fn event(&self, source: usize, event: Event<K>, store: &Store<K>) -> Option<Event<K>> {
        if self.namespaces.len() == 1 {
            return Some(event);
        }
        // What it guards is whole at every step.
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
                let of_others = |object: &Arc<K>| object.meta().namespace.as_deref() != namespace;
                objects.extend(store.list().into_iter().filter(of_others));
                Some(Event::Replaced { objects, version: progress.version()? })
            }
            Event::Applied { object, .. } => Some(Event::Applied { object, version: progress.version()? }),
            Event::Deleted { object, .. } => Some(Event::Deleted { object, version: progress.version()? }),
            Event::Bookmark { .. } => Some(Event::Bookmark { version: progress.version()? }),
        }
    }
}

impl<K> Progress<K> {
    /// The least; `None` while lists are missing.
    fn version(&self) -> Option<ResourceVersion> {
        let versions: Option<Vec<_>> = self.versions.iter().map(Option::as_ref).collect();
        let least = |a: &ResourceVersion, b: &ResourceVersion| if b < a { b.clone() } else { a.clone() };
        versions?.into_iter().cloned().reduce(|a, b| least(&a, &b))
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
        let mut names: Vec<_> = objects.iter().map(|object| crate::ObjectKey::of(&**object).to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn lists_of_several_namespaces_are_one_and_leave_each_other_alone() {
        let store = Store::default();
        let join = Join::new(vec![Some("a".to_owned()), Some("b".to_owned())]);
        let tell = |source, event| {
            let event = join.event(source, event, &store);
            event.map(|event| store.receive(event).len())
        };
        assert_eq!(tell(1, listed(&[("b", "1"), ("b", "2")], "7")), None, "a is missing");
        assert_eq!(tell(0, listed(&[("a", "1")], "9")), Some(3));
        assert_eq!(store.version(), Some(version("7")), "b may lack what is newer");
        assert_eq!(tell(1, Event::Bookmark { version: version("12") }), Some(0));
        assert_eq!(store.version(), Some(version("9")));
        let changed = Event::Applied { object: object("a", "1", "13"), version: version("13") };
        assert_eq!(tell(0, changed), Some(1));
        assert_eq!(store.version(), Some(version("12")));
        assert_eq!(tell(1, listed(&[("b", "3")], "20")), Some(3), "two are gone, one is new");
        assert_eq!(names(&store), ["a/1", "b/3"]);
        assert_eq!(tell(0, Event::Deleted { object: object("a", "1", "30"), version: version("30") }), Some(1));
        assert_eq!((names(&store), store.version()), (vec!["b/3".to_owned()], Some(version("20"))));
    }

    #[test]
    fn one_watch_is_told_as_it_is() {
        let join = Join::new(vec![None]);
        let event = join.event(0, listed(&[("a", "1"), ("b", "1")], "7"), &Store::default());
        assert!(matches!(event, Some(Event::Replaced { objects, .. }) if objects.len() == 2));
    }
}
