//! The objects by namespace and name. The keys are read from the objects, so the tables contain only pointers.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use kube::Resource;

use crate::memory::Stored;

/// Tables up to this capacity are not shrunk.
const MIN_SHRINK_CAPACITY: usize = 64;

/// Shrinks a table that is mostly empty, so that memory does not stay at its peak.
pub(super) fn shrink_if_sparse<T>(table: &mut HashTable<T>, rehash: impl Fn(&T) -> u64) {
    if table.capacity() > MIN_SHRINK_CAPACITY.max(table.len() * 4) {
        table.shrink_to(table.len() * 2, rehash);
    }
}

/// One object per namespace and name, in no order.
///
/// Each object has two entries: one found by its key in one step, which is the most frequent query, and one in its
/// namespace.
#[derive(Debug)]
pub(super) struct Table<K> {
    objects: HashTable<Stored<K>>,
    namespaces: HashTable<Namespace<K>>,
    hasher: DefaultHashBuilder,
}

/// The objects of a namespace; at least one.
#[derive(Debug)]
struct Namespace<K> {
    name: Box<str>,
    objects: HashTable<Stored<K>>,
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

    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = &Stored<K>> {
        self.objects.iter()
    }

    pub(super) fn in_namespace(&self, name: &str) -> impl ExactSizeIterator<Item = &Stored<K>> {
        let namespace = self.namespaces.find(self.hasher.hash_one(name), |namespace| *namespace.name == *name);
        namespace.map_or_else(Default::default, |namespace| namespace.objects.iter())
    }

    /// Returns the capacity for objects and the number of namespaces.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> (usize, usize) {
        (
            self.objects.capacity()
                + self.namespaces.iter().map(|namespace| namespace.objects.capacity()).sum::<usize>(),
            self.namespaces.len(),
        )
    }
}

impl<K: Resource> Table<K> {
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Stored<K>> {
        self.objects.find(self.hasher.hash_one((namespace, name)), |object| object.key() == (namespace, name))
    }

    /// Returns the stored object with the namespace and name of this one.
    pub(super) fn get_by_key_of(&self, object: &Stored<K>) -> Option<&Stored<K>> {
        let (namespace, name) = object.key();
        self.get(namespace, name)
    }

    /// Stores an object and returns the previous one of its namespace and name.
    pub(super) fn insert(&mut self, object: Stored<K>) -> Option<Stored<K>> {
        let Table { objects, namespaces, hasher } = self;
        let (name, _) = object.key();
        let mut namespace = namespaces
            .entry(hasher.hash_one(name), |known| *known.name == *name, |known| hasher.hash_one(&*known.name))
            .or_insert_with(|| Namespace { name: name.into(), objects: HashTable::new() });
        insert(&mut namespace.get_mut().objects, object.clone(), hasher);
        insert(objects, object, hasher)
    }

    /// Removes the object with the namespace and name of this one. The entry of an empty namespace is removed.
    pub(super) fn remove_by_key_of(&mut self, object: &Stored<K>) -> Option<Stored<K>> {
        let Table { objects, namespaces, hasher } = self;
        let key = object.key();
        let removed = remove(objects, key, hasher)?;
        if let Ok(mut namespace) = namespaces.find_entry(hasher.hash_one(key.0), |known| *known.name == *key.0) {
            remove(&mut namespace.get_mut().objects, key, hasher);
            if namespace.get().objects.is_empty() {
                namespace.remove();
                shrink_if_sparse(namespaces, |known| hasher.hash_one(&*known.name));
            }
        }
        Some(removed)
    }
}

/// Inserts an object into a table by its key and returns the previous one.
pub(super) fn insert<K: Resource>(
    objects: &mut HashTable<Stored<K>>,
    object: Stored<K>,
    hasher: &DefaultHashBuilder,
) -> Option<Stored<K>> {
    let hash = hasher.hash_one(object.key());
    if let Some(known) = objects.find_mut(hash, |known| known.key() == object.key()) {
        return Some(std::mem::replace(known, object));
    }
    objects.insert_unique(hash, object, |known| hasher.hash_one(known.key()));
    None
}

/// Removes the object of this key from a table.
fn remove<K: Resource>(
    objects: &mut HashTable<Stored<K>>,
    key: (&str, &str),
    hasher: &DefaultHashBuilder,
) -> Option<Stored<K>> {
    let known = objects.find_entry(hasher.hash_one(key), |known| known.key() == key).ok()?;
    let (removed, _) = known.remove();
    shrink_if_sparse(objects, |known| hasher.hash_one(known.key()));
    Some(removed)
}
