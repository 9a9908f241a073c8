//! A cache of own writes on top of a store, like client-go's `MutationCache`: reads return a write until the store has
//! it.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{BuildHasher, Hash},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hashbrown::{DefaultHashBuilder, HashTable};
use kube::Resource;
use tokio::time::Instant;

use super::{
    Store,
    index::{Index, IndexValue},
};
use crate::{
    memory::{name_of, namespace_of},
    object::{ObjectKey, version},
};

/// The default of the maximum number of writes.
const CAPACITY: usize = 1024;

/// Reads objects from a store or from recorded writes, whichever is newer.
///
/// Guarantees:
/// - the newer of the stored and the written object is returned, by version; the stored one if versions cannot be
///   compared;
/// - a written object that is not in the store is returned only with [`include_adds`](Self::include_adds), and only
///   until the store has reached its version: if it is missing then, it was deleted;
/// - an index finds the state that is returned;
/// - a write is removed when the store has reached its version or its TTL has passed, so that a write that the server
///   lost expires;
/// - at most 1024 writes are stored, or as many as set with [`with_capacity`](Self::with_capacity): the oldest is
///   evicted.
pub struct MutationCache<K> {
    store: Store<K>,
    writes: Mutex<Writes<K>>,
    ttl: Duration,
    capacity: usize,
    include_adds: bool,
}

/// The last write of each object.
struct Writes<K> {
    by_key: HashTable<Write<K>>,
    hasher: DefaultHashBuilder,
    /// The number of all writes so far.
    count: u64,
}

struct Write<K> {
    object: Arc<K>,
    at: Instant,
    /// The history of the store's versions in which it was recorded.
    history: u64,
    /// The position among all writes.
    sequence: u64,
}

impl<K: Resource + 'static> fmt::Debug for MutationCache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writes = self.writes().by_key.len();
        f.debug_struct("MutationCache").field("store", &self.store).field("writes", &writes).finish_non_exhaustive()
    }
}

impl<K: Resource + 'static> MutationCache<K> {
    /// Creates a cache on top of this store, with a time to live of the writes.
    pub fn new(store: Store<K>, ttl: Duration) -> Self {
        let writes = Writes { by_key: HashTable::new(), hasher: DefaultHashBuilder::default(), count: 0 };
        MutationCache { store, writes: Mutex::new(writes), ttl, capacity: CAPACITY, include_adds: false }
    }

    /// Also returns written objects that are not in the store yet.
    #[must_use]
    pub fn include_adds(mut self) -> Self {
        self.include_adds = true;
        self
    }

    /// Sets the maximum number of writes.
    #[must_use]
    pub fn with_capacity(mut self, writes: usize) -> Self {
        self.capacity = writes;
        self
    }

    /// Records an object that the server returned for a write. A state that is older than the recorded one is ignored.
    pub fn record_write(&self, object: impl Into<Arc<K>>) {
        let mut writes = self.writes();
        self.remove_obsolete(&mut writes);
        writes.insert(object.into(), self.store.0.progress.history(), self.capacity);
    }

    /// Removes the write of an object that was deleted since.
    pub fn record_delete(&self, key: &ObjectKey) {
        self.writes().remove(key.namespace(), key.name());
    }

    /// Returns the object of this name. The namespace is empty for a cluster-scoped object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let mut writes = self.writes();
        self.remove_obsolete(&mut writes);
        self.newer(self.store.get(namespace, name), writes.get(namespace, name))
    }

    /// Returns the object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// Lists all objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.query(Store::list, |_| true)
    }

    /// Lists the objects of a namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.query(|store| store.list_namespace(namespace), |object| namespace_of(object) == namespace)
    }

    /// Runs a query on the store and merges the newer writes. `matches` is the condition of the query.
    fn query(&self, query: impl FnOnce(&Store<K>) -> Vec<Arc<K>>, matches: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        let mut writes = self.writes();
        self.remove_obsolete(&mut writes);
        let mut found = query(&self.store);
        if writes.by_key.is_empty() {
            return found;
        }
        found.retain(|stored| writes.get_by_key_of(stored).is_none());
        let newer = writes.by_key.iter().filter_map(|Write { object, .. }| {
            let stored = self.store.get(namespace_of(object.as_ref()), name_of(object.as_ref()));
            self.newer(stored, Some(object)).filter(|object| matches(object))
        });
        found.extend(newer);
        found
    }

    fn newer(&self, stored: Option<Arc<K>>, written: Option<&Arc<K>>) -> Option<Arc<K>> {
        match stored {
            Some(stored) => Some(written.filter(|written| is_newer(written, &stored)).map_or(stored, Arc::clone)),
            None => written.filter(|_| self.include_adds).cloned(),
        }
    }

    /// Removes writes that the store has reached, and expired ones. Runs before the store is read, so that an object
    /// missing there was deleted.
    fn remove_obsolete(&self, writes: &mut Writes<K>) {
        let now = Instant::now();
        let progress = &self.store.0.progress;
        writes.by_key.retain(|Write { object, at, history, .. }| {
            let is_reached = progress.has_reached_in(namespace_of(object.as_ref()), version_of(object));
            let is_pending = is_reached == Some(false) && *history == progress.history();
            is_pending && now.duration_since(*at) < self.ttl
        });
    }

    /// Returns the number of recorded writes.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.writes().by_key.len()
    }

    /// Ignores poisoning: no panic can leave the writes inconsistent.
    fn writes(&self) -> MutexGuard<'_, Writes<K>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource + Send + Sync + 'static> MutationCache<K> {
    /// Lists the objects with this index value.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let matches = |object: &K| index.values(object).iter().any(|found| found.borrow() == value);
        self.query(|store| store.by_index(index, value), matches)
    }
}

impl<K: Resource> Writes<K> {
    fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let hash = self.hasher.hash_one((namespace, name));
        self.by_key.find(hash, |write| key_of(&write.object) == (namespace, name)).map(|write| &write.object)
    }

    fn get_by_key_of(&self, object: &K) -> Option<&Arc<K>> {
        self.get(namespace_of(object), name_of(object))
    }

    fn insert(&mut self, object: Arc<K>, history: u64, capacity: usize) {
        self.count += 1;
        let Writes { by_key, hasher, count } = self;
        let write = Write { object, at: Instant::now(), history, sequence: *count };
        let hash = hasher.hash_one(key_of(&write.object));
        match by_key.find_mut(hash, |known| key_of(&known.object) == key_of(&write.object)) {
            Some(known) if is_newer(&known.object, &write.object) => {}
            Some(known) => *known = write,
            None => {
                by_key.insert_unique(hash, write, |write| hasher.hash_one(key_of(&write.object)));
            }
        }
        if by_key.len() > capacity
            && let Some(oldest) = by_key.iter().map(|write| write.sequence).min()
        {
            by_key.retain(|write| write.sequence > oldest);
        }
    }

    fn remove(&mut self, namespace: &str, name: &str) {
        let hash = self.hasher.hash_one((namespace, name));
        if let Ok(write) = self.by_key.find_entry(hash, |write| key_of(&write.object) == (namespace, name)) {
            write.remove();
        }
    }
}

fn key_of<K: Resource>(object: &Arc<K>) -> (&str, &str) {
    (namespace_of(object.as_ref()), name_of(object.as_ref()))
}

fn version_of<K: Resource>(object: &Arc<K>) -> &str {
    object.meta().resource_version.as_deref().unwrap_or_default()
}

/// Returns whether one state of an object is newer than another.
fn is_newer<K: Resource>(one: &Arc<K>, other: &Arc<K>) -> bool {
    version::compare(version_of(one), version_of(other)) == Some(Ordering::Greater)
}
