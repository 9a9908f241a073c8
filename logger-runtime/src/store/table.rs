//! Objects by namespace and name. Their names are read from the objects: nothing is held beside them but pointers.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use kube::Resource;

/// Tables up to this size are not made smaller.
const SMALL: usize = 64;

/// The namespace of an object, empty in the cluster; also where a transform dropped it.
pub(crate) fn namespace_of<K: Resource>(object: &K) -> &str {
    object.meta().namespace.as_deref().unwrap_or_default()
}

/// The name of an object; empty where a transform dropped it.
pub(crate) fn name_of<K: Resource>(object: &K) -> &str {
    object.meta().name.as_deref().unwrap_or_default()
}

/// Makes a table smaller that is mostly empty: so what once was there does not count for ever.
pub(crate) fn fit<T>(table: &mut HashTable<T>, rehash: impl Fn(&T) -> u64) {
    if table.capacity() > SMALL.max(table.len() * 4) {
        table.shrink_to(table.len() * 2, rehash);
    }
}

/// The key of an object, read from it.
pub(crate) fn key_of<K: Resource>(object: &Arc<K>) -> (&str, &str) {
    (namespace_of(object.as_ref()), name_of(object.as_ref()))
}

/// One object of each namespace and name, in no order.
///
/// Two pointers to each: one found by its whole key in one step, which is what most ask for, and one among those of its namespace.
#[derive(Debug)]
pub(super) struct Table<K> {
    objects: HashTable<Arc<K>>,
    namespaces: HashTable<Namespace<K>>,
    hasher: DefaultHashBuilder,
}

/// The objects of a namespace: at least one.
#[derive(Debug)]
struct Namespace<K> {
    name: Box<str>,
    objects: HashTable<Arc<K>>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        let hasher = DefaultHashBuilder::default();
        Table { objects: HashTable::new(), namespaces: HashTable::new(), hasher }
    }
}

impl<K> Table<K> {
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = &Arc<K>> {
        self.objects.iter()
    }

    pub(super) fn of_namespace(&self, name: &str) -> impl ExactSizeIterator<Item = &Arc<K>> {
        let namespace = self.namespaces.find(self.hasher.hash_one(name), |namespace| *namespace.name == *name);
        namespace.map_or_else(Default::default, |namespace| namespace.objects.iter())
    }

    /// For how many objects and namespaces there is room.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, usize) {
        (
            self.objects.capacity()
                + self.namespaces.iter().map(|namespace| namespace.objects.capacity()).sum::<usize>(),
            self.namespaces.len(),
        )
    }
}

impl<K: Resource> Table<K> {
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        self.objects.find(self.hasher.hash_one((namespace, name)), |object| key_of(object) == (namespace, name))
    }

    /// The object that has the same namespace and name.
    pub(super) fn get_like(&self, object: &K) -> Option<&Arc<K>> {
        self.get(namespace_of(object), name_of(object))
    }

    /// Puts an object in the place of the one that has its namespace and name, and returns that.
    pub(super) fn insert(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        let Table { objects, namespaces, hasher } = self;
        let name = namespace_of(object.as_ref());
        let mut namespace = namespaces
            .entry(hasher.hash_one(name), |known| *known.name == *name, |known| hasher.hash_one(&*known.name))
            .or_insert_with(|| Namespace { name: name.into(), objects: HashTable::new() });
        put(&mut namespace.get_mut().objects, Arc::clone(&object), hasher);
        put(objects, object, hasher)
    }

    /// Takes out the object that has the same namespace and name. A namespace whose last object goes leaves nothing behind.
    pub(super) fn remove_like(&mut self, object: &K) -> Option<Arc<K>> {
        let Table { objects, namespaces, hasher } = self;
        let key = (namespace_of(object), name_of(object));
        let removed = take(objects, key, hasher)?;
        if let Ok(mut namespace) = namespaces.find_entry(hasher.hash_one(key.0), |known| *known.name == *key.0) {
            take(&mut namespace.get_mut().objects, key, hasher);
            if namespace.get().objects.is_empty() {
                namespace.remove();
                fit(namespaces, |known| hasher.hash_one(&*known.name));
            }
        }
        Some(removed)
    }
}

/// Puts an object into a table of objects by their keys, and returns the one that had its key.
pub(crate) fn put<K: Resource>(
    objects: &mut HashTable<Arc<K>>,
    object: Arc<K>,
    hasher: &DefaultHashBuilder,
) -> Option<Arc<K>> {
    let hash = hasher.hash_one(key_of(&object));
    if let Some(known) = objects.find_mut(hash, |known| key_of(known) == key_of(&object)) {
        return Some(std::mem::replace(known, object));
    }
    objects.insert_unique(hash, object, |known| hasher.hash_one(key_of(known)));
    None
}

/// Takes the object of this key out of such a table.
fn take<K: Resource>(
    objects: &mut HashTable<Arc<K>>,
    key: (&str, &str),
    hasher: &DefaultHashBuilder,
) -> Option<Arc<K>> {
    let known = objects.find_entry(hasher.hash_one(key), |known| key_of(known) == key).ok()?;
    let (taken, _) = known.remove();
    fit(objects, |known| hasher.hash_one(key_of(known)));
    Some(taken)
}
