//! Objects by namespace and name. Their names are read from the objects: nothing is held beside them but a pointer.

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

/// One object of each namespace and name, in no order.
#[derive(Debug)]
pub(super) struct Table<K> {
    namespaces: HashTable<Namespace<K>>,
    len: usize,
    hasher: DefaultHashBuilder,
}

/// The objects of a namespace: at least one, but while it is changed.
#[derive(Debug)]
struct Namespace<K> {
    name: Box<str>,
    objects: HashTable<Arc<K>>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Table { namespaces: HashTable::new(), len: 0, hasher: DefaultHashBuilder::default() }
    }
}

impl<K> Table<K> {
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<K: Resource> Table<K> {
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let objects = &self.namespace(namespace)?.objects;
        objects.find(self.hasher.hash_one(name), |object| name_of(object.as_ref()) == name)
    }

    /// The object that has the same namespace and name.
    pub(super) fn get_like(&self, object: &K) -> Option<&Arc<K>> {
        self.get(namespace_of(object), name_of(object))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<K>> {
        self.namespaces.iter().flat_map(|namespace| &namespace.objects)
    }

    pub(super) fn of_namespace(&self, namespace: &str) -> impl ExactSizeIterator<Item = &Arc<K>> {
        self.namespace(namespace).map_or_else(Default::default, |namespace| namespace.objects.iter())
    }

    /// How many namespaces have objects.
    #[cfg(test)]
    pub(super) fn namespaces(&self) -> usize {
        self.namespaces.len()
    }

    /// How many objects of this namespace there is room for.
    #[cfg(test)]
    pub(super) fn room(&self, namespace: &str) -> usize {
        self.namespace(namespace).map_or(0, |namespace| namespace.objects.capacity())
    }

    /// Puts an object in the place of the one that has its namespace and name, and returns that.
    pub(super) fn insert(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        let Table { namespaces, len, hasher } = self;
        let name = namespace_of(object.as_ref());
        let rehash = |namespace: &Namespace<K>| hasher.hash_one(&*namespace.name);
        let mut namespace = namespaces
            .entry(hasher.hash_one(name), |namespace| *namespace.name == *name, rehash)
            .or_insert_with(|| Namespace { name: name.into(), objects: HashTable::new() });
        let old = namespace.get_mut().insert(object, hasher);
        *len += usize::from(old.is_none());
        old
    }

    /// Takes out the object that has the same namespace and name. A namespace whose last object goes leaves nothing behind.
    pub(super) fn remove_like(&mut self, object: &K) -> Option<Arc<K>> {
        let (name, hasher) = (namespace_of(object), &self.hasher);
        let hash = hasher.hash_one(name);
        let mut namespace = self.namespaces.find_entry(hash, |namespace| *namespace.name == *name).ok()?;
        let removed = namespace.get_mut().remove(name_of(object), hasher)?;
        self.len -= 1;
        if namespace.get().objects.is_empty() {
            namespace.remove();
        }
        Some(removed)
    }

    fn namespace(&self, name: &str) -> Option<&Namespace<K>> {
        self.namespaces.find(self.hasher.hash_one(name), |namespace| *namespace.name == *name)
    }
}

impl<K: Resource> Namespace<K> {
    fn insert(&mut self, object: Arc<K>, hasher: &DefaultHashBuilder) -> Option<Arc<K>> {
        let name = name_of(object.as_ref());
        let hash = hasher.hash_one(name);
        if let Some(place) = self.objects.find_mut(hash, |known| name_of(known.as_ref()) == name) {
            return Some(std::mem::replace(place, object));
        }
        self.objects.insert_unique(hash, object, |known| hasher.hash_one(name_of(known.as_ref())));
        None
    }

    fn remove(&mut self, name: &str, hasher: &DefaultHashBuilder) -> Option<Arc<K>> {
        let known = self.objects.find_entry(hasher.hash_one(name), |known| name_of(known.as_ref()) == name).ok()?;
        let (removed, _) = known.remove();
        fit(&mut self.objects, |known| hasher.hash_one(name_of(known.as_ref())));
        Some(removed)
    }
}
