//! The store: a copy of the server's objects, indexed by namespace.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kube::Resource;

use crate::key::ObjectKey;

/// The objects of a kind as an informer last saw them. Cloning gives another handle on the same store.
///
/// It promises:
/// - objects are shared and nobody can change them: what is read stays as it was read;
/// - every query sees one state; a replacement of all objects is one step;
/// - finding by key or namespace does not look at other namespaces' objects.
#[derive(Debug)]
pub struct Store<K>(Arc<RwLock<ByNamespace<K>>>);

type ByNamespace<K> = BTreeMap<String, BTreeMap<String, Arc<K>>>;

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

/// What became of one object.
#[derive(Debug)]
pub(crate) enum Change<K> {
    Added(Arc<K>),
    Updated { old: Arc<K>, new: Arc<K> },
    Removed(Arc<K>),
}

impl<K: Resource> Store<K> {
    /// The object of this name; the namespace is empty for objects of the cluster.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.read().get(namespace)?.get(name).cloned()
    }

    /// The object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(&key.namespace, &key.name)
    }

    /// All objects, by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read().values().flat_map(BTreeMap::values).cloned().collect()
    }

    /// The objects of a namespace, by name.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.read().get(namespace).map_or_else(Vec::new, |objects| objects.values().cloned().collect())
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.read().values().map(BTreeMap::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts an object in; `None` if the same version is there already.
    pub(crate) fn apply(&self, object: K) -> Option<Change<K>> {
        put(&mut self.write(), Arc::new(object))
    }

    /// Takes an object out; the change carries its final state.
    pub(crate) fn remove(&self, object: K) -> Option<Change<K>> {
        let key = ObjectKey::of(&object);
        take(&mut self.write(), &key).map(|_| Change::Removed(Arc::new(object)))
    }

    /// Puts these objects in place of all others, in one step: removals first, then the rest. An object that was made
    /// anew under its name is another one: the old is removed and the new added.
    pub(crate) fn replace(&self, objects: Vec<K>) -> Vec<Change<K>> {
        let mut all = self.write();
        let keep: BTreeMap<_, _> = objects.iter().map(|new| (ObjectKey::of(new), &new.meta().uid)).collect();
        let stays = |old: &K| keep.get(&ObjectKey::of(old)) == Some(&&old.meta().uid);
        let objects_now = all.values().flat_map(BTreeMap::values);
        let gone: Vec<_> = objects_now.filter(|old| !stays(old)).map(|old| ObjectKey::of(old.as_ref())).collect();
        let removed = gone.iter().filter_map(|key| take(&mut all, key).map(Change::Removed)).collect::<Vec<_>>();
        let put = objects.into_iter().filter_map(|object| put(&mut all, Arc::new(object))).collect::<Vec<_>>();
        removed.into_iter().chain(put).collect()
    }

    /// A lock that was held when its thread panicked still guards whole maps: each change is a single insert or remove.
    fn read(&self) -> RwLockReadGuard<'_, ByNamespace<K>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ByNamespace<K>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn put<K: Resource>(all: &mut ByNamespace<K>, new: Arc<K>) -> Option<Change<K>> {
    let key = ObjectKey::of(new.as_ref());
    match all.entry(key.namespace).or_default().insert(key.name, Arc::clone(&new)) {
        Some(old) if is_same_version(&old, &new) => None,
        Some(old) => Some(Change::Updated { old, new }),
        None => Some(Change::Added(new)),
    }
}

fn is_same_version<K: Resource>(old: &Arc<K>, new: &Arc<K>) -> bool {
    let version = |object: &Arc<K>| object.meta().resource_version.clone();
    version(old).is_some() && version(old) == version(new) && old.meta().uid == new.meta().uid
}

/// A namespace whose last object is taken leaves nothing behind.
fn take<K>(all: &mut ByNamespace<K>, key: &ObjectKey) -> Option<Arc<K>> {
    let objects = all.get_mut(&key.namespace)?;
    let taken = objects.remove(&key.name);
    if objects.is_empty() {
        all.remove(&key.namespace);
    }
    taken
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

    fn told(changes: impl IntoIterator<Item = Change<ConfigMap>>) -> Vec<String> {
        let version = |object: &ConfigMap| object.metadata.resource_version.clone().unwrap();
        let tell = |change| match change {
            Change::Added(new) => format!("add {}@{}", ObjectKey::of(&*new), version(&new)),
            Change::Updated { old, new } => {
                format!("update {}@{}->{}", ObjectKey::of(&*new), version(&old), version(&new))
            }
            Change::Removed(old) => format!("remove {}@{}", ObjectKey::of(&*old), version(&old)),
        };
        changes.into_iter().map(tell).collect()
    }

    #[test]
    fn namespace_listing_sees_its_own_objects_only() {
        let store = Store::default();
        for (namespace, name) in [("a", "1"), ("b", "1"), ("a", "2")] {
            store.apply(object(namespace, name, "1"));
        }
        let keys: Vec<_> = store.list_namespace("a").iter().map(|o| ObjectKey::of(&**o).to_string()).collect();
        assert_eq!(keys, ["a/1", "a/2"]);
        assert_eq!(store.len(), 3);
    }

    #[test]
    fn an_emptied_namespace_leaves_no_entry_behind() {
        let store = Store::default();
        store.apply(object("a", "1", "1"));
        assert_eq!(told(store.remove(object("a", "1", "2"))), ["remove a/1@2"]);
        assert!(store.read().is_empty());
    }

    #[test]
    fn removing_an_unknown_object_is_no_change() {
        assert!(Store::default().remove(object("a", "1", "1")).is_none());
    }

    #[test]
    fn replacing_tells_removals_first_and_nothing_of_what_stayed() {
        let store = Store::default();
        for name in ["gone", "same", "changed"] {
            store.apply(object("a", name, "1"));
        }
        let new = vec![object("a", "same", "1"), object("a", "changed", "2"), object("a", "new", "3")];
        assert_eq!(told(store.replace(new)), ["remove a/gone@1", "update a/changed@1->2", "add a/new@3"]);
    }

    #[test]
    fn replacing_tells_of_an_object_made_anew_as_a_removal_and_an_addition() {
        let store = Store::default();
        let with_uid = |version, uid: &str| {
            let mut object = object("a", "1", version);
            object.metadata.uid = Some(uid.to_owned());
            object
        };
        store.apply(with_uid("1", "old"));
        assert_eq!(told(store.replace(vec![with_uid("2", "new")])), ["remove a/1@1", "add a/1@2"]);
        assert_eq!(store.list()[0].metadata.uid.as_deref(), Some("new"));
    }
}
