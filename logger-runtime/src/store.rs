//! The store: a copy of the server's objects, by namespace and by the indexes it was given.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kube::Resource;

use crate::index::{Index, Indexed};
use crate::key::ObjectKey;
use crate::reflector::Event;
use crate::version::ResourceVersion;

/// The objects of a kind as an informer last saw them. Cloning gives another handle on the same store.
///
/// It promises:
/// - objects are shared and nobody can change them: what is read stays as it was read;
/// - every query sees one state; a replacement of all objects is one step;
/// - finding by key, namespace or index does not look at other objects.
#[derive(Debug)]
pub struct Store<K>(Arc<RwLock<Objects<K>>>);

/// The objects by namespace and name, and the indexes on them.
#[derive(Debug)]
struct Objects<K> {
    by_namespace: BTreeMap<String, BTreeMap<String, Arc<K>>>,
    indexes: Vec<Indexed<K>>,
    version: Option<ResourceVersion>,
}

impl<K> Default for Objects<K> {
    fn default() -> Self {
        Objects { by_namespace: BTreeMap::new(), indexes: Vec::new(), version: None }
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Store(Arc::clone(&self.0))
    }
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        Store(Arc::default())
    }
}

/// What became of one object. A version that is there already is no change.
#[derive(Debug)]
pub(crate) enum Change<K> {
    Added(Arc<K>),
    Updated {
        old: Arc<K>,
        new: Arc<K>,
    },
    Deleted {
        /// The final state, or the last one known.
        object: Arc<K>,
        /// The deletion itself was missed.
        final_state_unknown: bool,
    },
}

impl<K: Resource> Store<K> {
    /// The object of this name; the namespace is empty for objects of the cluster.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.read().get(namespace, name).cloned()
    }

    /// The object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// All objects, by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read().all().cloned().collect()
    }

    /// The objects of a namespace, by name.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let objects = self.read();
        objects.by_namespace.get(namespace).map_or_else(Vec::new, |objects| objects.values().cloned().collect())
    }

    /// The objects that are found under this value, by namespace and name. Where the store does not have this index, every
    /// object is looked at.
    pub fn by_index(&self, index: &Index<K>, value: &str) -> Vec<Arc<K>> {
        let objects = self.read();
        match objects.indexes.iter().find(|known| known.name() == index.name()) {
            Some(known) => {
                known.keys(value).filter_map(|key| objects.get(key.namespace(), key.name()).cloned()).collect()
            }
            None => {
                let is_found = |object: &&Arc<K>| index.values(object).iter().any(|found| found == value);
                objects.all().filter(is_found).cloned().collect()
            }
        }
    }

    /// Has an index kept from now on; one of the same name stays as it is.
    pub(crate) fn add_index(&self, index: Index<K>) {
        let mut objects = self.write();
        if objects.indexes.iter().all(|known| known.name() != index.name()) {
            let indexed = Indexed::new(index, objects.all());
            objects.indexes.push(indexed);
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.read().by_namespace.values().map(BTreeMap::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How far the store is: nothing that the server told up to this version is missing. `None` before the first list.
    pub fn version(&self) -> Option<ResourceVersion> {
        self.read().version.clone()
    }

    /// Does to the store what the reflector tells, in one step, and says what changed: deletions first, then the rest.
    ///
    /// An object that was made anew under its name while that was missed is another one: the old is deleted, the new added.
    pub(crate) fn receive(&self, event: Event<K>) -> Vec<Change<K>> {
        let mut all = self.write();
        let (changes, version) = match event {
            Event::Replaced { objects, version } => (all.replace(objects), version),
            Event::Applied { object, version } => (all.put(object).into_iter().collect(), version),
            Event::Deleted { object, version } => (all.delete(object).into_iter().collect(), version),
            Event::Bookmark { version } => (Vec::new(), version),
        };
        all.version = Some(version);
        changes
    }

    /// A lock that was held when its thread panicked still guards whole maps: only an index function can panic, and then
    /// no more than its index lacks the object.
    fn read(&self) -> RwLockReadGuard<'_, Objects<K>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<K>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource> Objects<K> {
    fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.by_namespace.get(namespace)?.get(name)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<K>> {
        self.by_namespace.values().flat_map(BTreeMap::values)
    }

    /// `None` if the same version is there already.
    fn put(&mut self, new: Arc<K>) -> Option<Change<K>> {
        let key = ObjectKey::of(new.as_ref());
        let objects = self.by_namespace.entry(key.namespace().to_owned()).or_default();
        let old = objects.insert(key.name().to_owned(), Arc::clone(&new));
        for index in &mut self.indexes {
            old.iter().for_each(|old| index.remove(old));
            index.insert(&new);
        }
        match old {
            Some(old) if is_same_version(&old, &new) => None,
            Some(old) => Some(Change::Updated { old, new }),
            None => Some(Change::Added(new)),
        }
    }

    /// The change carries the final state.
    fn delete(&mut self, object: Arc<K>) -> Option<Change<K>> {
        self.take(&ObjectKey::of(object.as_ref())).map(|_| Change::Deleted { object, final_state_unknown: false })
    }

    fn replace(&mut self, objects: Vec<Arc<K>>) -> Vec<Change<K>> {
        let keep: BTreeMap<_, _> =
            objects.iter().map(|new| (ObjectKey::of(new.as_ref()), new.meta().uid.as_deref())).collect();
        let stays = |old: &K| keep.get(&ObjectKey::of(old)) == Some(&old.meta().uid.as_deref());
        let gone: Vec<_> = self.all().filter(|old| !stays(old)).map(|old| ObjectKey::of(old.as_ref())).collect();
        let missed = |object| Change::Deleted { object, final_state_unknown: true };
        let mut changes: Vec<_> = gone.iter().filter_map(|key| self.take(key).map(missed)).collect();
        changes.extend(objects.into_iter().filter_map(|object| self.put(object)));
        changes
    }

    /// A namespace whose last object is taken leaves nothing behind.
    fn take(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let objects = self.by_namespace.get_mut(key.namespace())?;
        let taken = objects.remove(key.name())?;
        if objects.is_empty() {
            self.by_namespace.remove(key.namespace());
        }
        self.indexes.iter_mut().for_each(|index| index.remove(&taken));
        Some(taken)
    }
}

fn is_same_version<K: Resource>(old: &Arc<K>, new: &Arc<K>) -> bool {
    let version = |object: &Arc<K>| object.meta().resource_version.clone();
    version(old).is_some() && version(old) == version(new) && old.meta().uid == new.meta().uid
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn object(namespace: &str, name: &str, version: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some(namespace.to_owned());
        object.metadata.name = Some(name.to_owned());
        object.metadata.resource_version = Some(version.to_owned());
        object
    }

    fn version() -> ResourceVersion {
        ResourceVersion::new("7")
    }

    fn applied(object: ConfigMap) -> Event<ConfigMap> {
        Event::Applied { object: Arc::new(object), version: version() }
    }

    fn deleted(object: ConfigMap) -> Event<ConfigMap> {
        Event::Deleted { object: Arc::new(object), version: version() }
    }

    fn replaced(objects: Vec<ConfigMap>) -> Event<ConfigMap> {
        Event::Replaced { objects: objects.into_iter().map(Arc::new).collect(), version: version() }
    }

    fn told(changes: impl IntoIterator<Item = Change<ConfigMap>>) -> Vec<String> {
        let version = |object: &ConfigMap| object.metadata.resource_version.clone().unwrap();
        let tell = |change| match change {
            Change::Added(new) => format!("add {}@{}", ObjectKey::of(&*new), version(&new)),
            Change::Updated { old, new } => {
                format!("update {}@{}->{}", ObjectKey::of(&*new), version(&old), version(&new))
            }
            Change::Deleted { object, final_state_unknown } => {
                let missed = if final_state_unknown { " (missed)" } else { "" };
                format!("delete {}@{}{missed}", ObjectKey::of(&*object), version(&object))
            }
        };
        changes.into_iter().map(tell).collect()
    }

    #[test]
    fn namespace_listing_sees_its_own_objects_only() {
        let store = Store::default();
        for (namespace, name) in [("a", "1"), ("b", "1"), ("a", "2")] {
            store.receive(applied(object(namespace, name, "1")));
        }
        let keys: Vec<_> = store.list_namespace("a").iter().map(|o| ObjectKey::of(&**o).to_string()).collect();
        assert_eq!(keys, ["a/1", "a/2"]);
        assert_eq!(store.len(), 3);
    }

    #[test]
    fn an_emptied_namespace_leaves_no_entry_behind() {
        let store = Store::default();
        store.receive(applied(object("a", "1", "1")));
        assert_eq!(told(store.receive(deleted(object("a", "1", "2")))), ["delete a/1@2"]);
        assert!(store.read().by_namespace.is_empty());
    }

    #[test]
    fn removing_an_unknown_object_is_no_change() {
        assert!(Store::default().receive(deleted(object("a", "1", "1"))).is_empty());
    }

    #[test]
    fn replacing_tells_removals_first_and_nothing_of_what_stayed() {
        let store = Store::default();
        for name in ["gone", "same", "changed"] {
            store.receive(applied(object("a", name, "1")));
        }
        let new = vec![object("a", "same", "1"), object("a", "changed", "2"), object("a", "new", "3")];
        assert_eq!(
            told(store.receive(replaced(new))),
            ["delete a/gone@1 (missed)", "update a/changed@1->2", "add a/new@3"]
        );
    }

    #[test]
    fn replacing_tells_of_an_object_made_anew_as_a_removal_and_an_addition() {
        let store = Store::default();
        let with_uid = |version, uid: &str| {
            let mut object = object("a", "1", version);
            object.metadata.uid = Some(uid.to_owned());
            object
        };
        store.receive(applied(with_uid("1", "old")));
        assert_eq!(told(store.receive(replaced(vec![with_uid("2", "new")]))), ["delete a/1@1 (missed)", "add a/1@2"]);
        assert_eq!(store.list()[0].metadata.uid.as_deref(), Some("new"));
    }

    #[test]
    fn an_index_follows_every_change_and_leaves_nothing_behind() {
        const BY_VERSION: Index<ConfigMap> =
            Index::new("by_version", |object| object.metadata.resource_version.iter().cloned().collect());
        let names = |store: &Store<ConfigMap>, value: &str| {
            let found = store.by_index(&BY_VERSION, value);
            found.iter().map(|object| ObjectKey::of(&**object).to_string()).collect::<Vec<_>>()
        };
        let store = Store::default();
        store.receive(applied(object("b", "1", "1")));
        store.add_index(BY_VERSION);
        store.add_index(BY_VERSION);
        store.receive(applied(object("a", "1", "1")));
        assert_eq!(names(&store, "1"), ["a/1", "b/1"]);
        store.receive(applied(object("a", "1", "2")));
        assert_eq!((names(&store, "1"), names(&store, "2")), (vec!["b/1".to_owned()], vec!["a/1".to_owned()]));
        store.receive(replaced(vec![object("a", "1", "3")]));
        store.receive(deleted(object("a", "1", "4")));
        assert!(["1", "2", "3"].into_iter().all(|value| names(&store, value).is_empty()));
        assert_eq!(store.read().indexes[0].keys("3").count(), 0);
    }

    #[test]
    fn an_unknown_index_looks_at_every_object() {
        let store = Store::default();
        store.receive(applied(object("a", "1", "7")));
        let by_version: Index<ConfigMap> =
            Index::new("other", |object| object.metadata.resource_version.iter().cloned().collect());
        assert_eq!((store.by_index(&by_version, "7").len(), store.by_index(&by_version, "8").len()), (1, 0));
    }
}
