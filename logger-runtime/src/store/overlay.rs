//! Own writes over a store: what was written is read at once, until the store has it.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::{DefaultHashBuilder, HashTable};
use kube::Resource;
use tokio::time::Instant;

use super::{Store, key_of, name_of, namespace_of};
use crate::index::{Index, IndexValue};
use crate::key::ObjectKey;
use crate::version;

/// So many writes are held, unless said otherwise.
const CAPACITY: usize = 1024;

/// Reads a store as if it had what was written already: of each object the newer state, that of the store or the own write.
///
/// It promises:
/// - of the store's object and the written one the newer is read, by version; the store's, where versions cannot be compared;
/// - a written object that the store does not have is read only with [`adding_missing`](Self::adding_missing), and only
///   until the store has reached its version: what is missing then was deleted;
/// - what an index finds, it finds by the state that is read;
/// - a write is forgotten when the store has reached it and when its time is over, so a write that the server lost is not
///   read for ever;
/// - at most 1024 writes are held, or as many as [`with_capacity`](Self::with_capacity) says: the oldest give way.
pub struct WriteOverlay<K> {
    store: Store<K>,
    written: Mutex<Written<K>>,
    lives: Duration,
    capacity: usize,
    adds_missing: bool,
}

/// The last write of each object.
struct Written<K> {
    writes: HashTable<Write<K>>,
    hasher: DefaultHashBuilder,
    /// How many there were.
    count: u64,
}

struct Write<K> {
    object: Arc<K>,
    at: Instant,
    nth: u64,
}

impl<K: Resource + 'static> fmt::Debug for WriteOverlay<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writes = self.held().writes.len();
        f.debug_struct("WriteOverlay").field("store", &self.store).field("writes", &writes).finish_non_exhaustive()
    }
}

impl<K: Resource + 'static> WriteOverlay<K> {
    /// An overlay of this store, whose writes live at most so long.
    pub fn new(store: Store<K>, lives: Duration) -> Self {
        let written = Written { writes: HashTable::new(), hasher: DefaultHashBuilder::default(), count: 0 };
        WriteOverlay { store, written: Mutex::new(written), lives, capacity: CAPACITY, adds_missing: false }
    }

    /// The same, which also reads written objects that the store does not have yet.
    pub fn adding_missing(mut self) -> Self {
        self.adds_missing = true;
        self
    }

    /// The same, which holds at most so many writes.
    pub fn with_capacity(mut self, writes: usize) -> Self {
        self.capacity = writes;
        self
    }

    /// Notes an object as the server returned it to a write. An older state than the one noted changes nothing.
    pub fn written(&self, object: impl Into<Arc<K>>) {
        let mut written = self.held();
        self.forget(&mut written);
        written.insert(object.into(), self.capacity);
    }

    /// Forgets what was written of an object, because it was deleted since.
    pub fn deleted(&self, key: &ObjectKey) {
        self.held().remove(key.namespace(), key.name());
    }

    /// The object of this name; the namespace is empty for objects of the cluster.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let mut written = self.held();
        self.forget(&mut written);
        self.newer(self.store.get(namespace, name), written.get(namespace, name))
    }

    /// The object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// All objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.over(Store::list, |_| true)
    }

    /// The objects of a namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.over(|store| store.list_namespace(namespace), |object| namespace_of(object) == namespace)
    }

    /// The store's objects of a query, with the writes that are newer. `is_asked_for` says what the query would find.
    fn over(&self, query: impl FnOnce(&Store<K>) -> Vec<Arc<K>>, is_asked_for: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        let mut written = self.held();
        self.forget(&mut written);
        let mut found = query(&self.store);
        if written.writes.is_empty() {
            return found;
        }
        found.retain(|here| written.get_like(here).is_none());
        let read = written.writes.iter().filter_map(|Write { object, .. }| {
            let here = self.store.get(namespace_of(object.as_ref()), name_of(object.as_ref()));
            self.newer(here, Some(object)).filter(|object| is_asked_for(object))
        });
        found.extend(read);
        found
    }

    /// What is read of an object: the store's state or the own write.
    fn newer(&self, here: Option<Arc<K>>, write: Option<&Arc<K>>) -> Option<Arc<K>> {
        match here {
            Some(here) => Some(write.filter(|write| is_newer(write, &here)).map_or(here, Arc::clone)),
            None => write.filter(|_| self.adds_missing).cloned(),
        }
    }

    /// What the store has reached and what is too old. That is asked before the store is: so what it lacks then is gone.
    fn forget(&self, written: &mut Written<K>) {
        let now = Instant::now();
        written.writes.retain(|Write { object, at, .. }| {
            let is_awaited = self.store.0.progress.has_reached(version_of(object)) == Some(false);
            is_awaited && now.duration_since(*at) < self.lives
        });
    }

    /// How many writes are held.
    #[cfg(test)]
    pub(super) fn writes(&self) -> usize {
        self.held().writes.len()
    }

    /// What this guards is whole at every step.
    fn held(&self) -> MutexGuard<'_, Written<K>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource + Send + Sync + 'static> WriteOverlay<K> {
    /// The objects that are found under this value.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let is_found = |object: &K| index.values(object).iter().any(|found| found.borrow() == value);
        self.over(|store| store.by_index(index, value), is_found)
    }
}

impl<K: Resource> Written<K> {
    fn get(&self, namespace: &str, name: &str) -> Option<&Arc<K>> {
        let hash = self.hasher.hash_one((namespace, name));
        self.writes.find(hash, |write| key_of(&write.object) == (namespace, name)).map(|write| &write.object)
    }

    fn get_like(&self, object: &K) -> Option<&Arc<K>> {
        self.get(namespace_of(object), name_of(object))
    }

    fn insert(&mut self, object: Arc<K>, capacity: usize) {
        self.count += 1;
        let Written { writes, hasher, count } = self;
        let write = Write { object, at: Instant::now(), nth: *count };
        let hash = hasher.hash_one(key_of(&write.object));
        match writes.find_mut(hash, |known| key_of(&known.object) == key_of(&write.object)) {
            Some(known) if is_newer(&known.object, &write.object) => {}
            Some(known) => *known = write,
            None => {
                writes.insert_unique(hash, write, |write| hasher.hash_one(key_of(&write.object)));
            }
        }
        if writes.len() > capacity
            && let Some(oldest) = writes.iter().map(|write| write.nth).min()
        {
            writes.retain(|write| write.nth > oldest);
        }
    }

    fn remove(&mut self, namespace: &str, name: &str) {
        let hash = self.hasher.hash_one((namespace, name));
        if let Ok(write) = self.writes.find_entry(hash, |write| key_of(&write.object) == (namespace, name)) {
            write.remove();
        }
    }
}

fn version_of<K: Resource>(object: &Arc<K>) -> &str {
    object.meta().resource_version.as_deref().unwrap_or_default()
}

/// Whether one state of an object is newer than another.
fn is_newer<K: Resource>(one: &Arc<K>, other: &Arc<K>) -> bool {
    version::compare(version_of(one), version_of(other)) == Some(Ordering::Greater)
}
