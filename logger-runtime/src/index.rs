//! Indexes: objects found by a value of theirs, without looking at the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use kube::Resource;

use crate::key::ObjectKey;

/// A way to find objects of a kind: under which values each is found.
///
/// `#[genclient(index(..))]` declares one on the kind, and the generated client has it as a constant.
pub struct Index<K> {
    name: &'static str,
    values: fn(&K) -> Vec<String>,
}

impl<K> Index<K> {
    /// The index of this name; an informer has one of each name.
    pub const fn new(name: &'static str, values: fn(&K) -> Vec<String>) -> Self {
        Index { name, values }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Under which values an object is found.
    pub fn values(&self, object: &K) -> Vec<String> {
        (self.values)(object)
    }
}

impl<K> Clone for Index<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Index<K> {}

impl<K> fmt::Debug for Index<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An index with the keys of the objects that are found in it.
#[derive(Debug)]
pub(crate) struct Indexed<K> {
    index: Index<K>,
    keys: BTreeMap<String, BTreeSet<ObjectKey>>,
}

impl<K: Resource> Indexed<K> {
    pub(crate) fn new<'a>(index: Index<K>, objects: impl Iterator<Item = &'a Arc<K>>) -> Self
    where
        K: 'a,
    {
        let mut indexed = Indexed { index, keys: BTreeMap::new() };
        objects.for_each(|object| indexed.insert(object));
        indexed
    }

    pub(crate) fn name(&self) -> &'static str {
        self.index.name
    }

    /// The keys of the objects that are found under this value, in order.
    pub(crate) fn keys(&self, value: &str) -> impl Iterator<Item = &ObjectKey> {
        self.keys.get(value).into_iter().flatten()
    }

    pub(crate) fn insert(&mut self, object: &K) {
        for value in self.index.values(object) {
            self.keys.entry(value).or_default().insert(ObjectKey::of(object));
        }
    }

    /// A value under which nothing is found any more leaves nothing behind.
    pub(crate) fn remove(&mut self, object: &K) {
        for value in self.index.values(object) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(&ObjectKey::of(object));
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
    }
}
