//! The ids of recent records: a record that a client sends again is not written again.

use std::{
    hash::{BuildHasher, RandomState},
    num::NonZeroUsize,
};

use lru::LruCache;

use crate::record::Source;

/// Derives the keys of records. Its hashes have a random seed, so that clients cannot choose bodies with equal keys.
#[derive(Clone, Debug, Default)]
pub struct Keys(RandomState);

/// Identifies a record: its source and id, and its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    id: u64,
    body: u64,
}

/// Whether a record is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its id is new.
    New,
    /// A record with another body has its id: clients of the API server choose the ids of their audit events, and
    /// aggregated API servers use those of kube-apiserver.
    ReusedId,
    /// A record has its id and its body.
    Duplicate,
}

/// The keys of the most recent records, bounded.
#[derive(Debug)]
pub struct Deduplicator {
    records: LruCache<Key, ()>,
    ids: LruCache<u64, ()>,
}

impl Keys {
    /// Returns the key of a record. The body is on one line, as in [`Draft::body`](crate::record::Draft::body).
    #[must_use]
    pub fn key(&self, source: Source, id: &str, body: &str) -> Key {
        Key { id: self.0.hash_one((source.name(), id)), body: self.0.hash_one(body) }
    }
}

impl Deduplicator {
    /// Creates an empty deduplicator that remembers this number of records.
    #[must_use]
    pub fn new(capacity: NonZeroUsize) -> Self {
        Deduplicator { records: cache(capacity), ids: cache(capacity) }
    }

    /// Returns whether the record is known. A known one becomes the most recent one.
    pub fn find(&mut self, key: Key) -> Known {
        match (self.ids.get(&key.id), self.records.get(&key)) {
            (_, Some(())) => Known::Duplicate,
            (Some(()), None) => Known::ReusedId,
            (None, None) => Known::New,
        }
    }

    /// Adds a record, and forgets the least recent one if there are too many.
    pub fn insert(&mut self, key: Key) {
        self.records.put(key, ());
        self.ids.put(key.id, ());
    }
}

/// The table grows with the keys, not with the capacity.
fn cache<K: std::hash::Hash + Eq>(capacity: NonZeroUsize) -> LruCache<K, ()> {
    let mut cache = LruCache::unbounded();
    cache.resize(capacity);
    cache
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recent_record_is_forgotten() {
        let keys = Keys::default();
        let key = |id: &str| keys.key(Source::Audit, id, "{}");
        let mut deduplicator = Deduplicator::new(NonZeroUsize::new(2).unwrap());
        deduplicator.insert(key("a"));
        deduplicator.insert(key("b"));
        assert_eq!(deduplicator.find(key("a")), Known::Duplicate);
        deduplicator.insert(key("c"));
        let known = ["a", "b", "c"].map(|id| deduplicator.find(key(id)));
        assert_eq!(known, [Known::Duplicate, Known::New, Known::Duplicate]);
    }

    #[test]
    fn another_body_or_source_is_another_record() {
        let keys = Keys::default();
        let mut deduplicator = Deduplicator::new(NonZeroUsize::new(8).unwrap());
        deduplicator.insert(keys.key(Source::Audit, "a", "1"));
        assert_eq!(deduplicator.find(keys.key(Source::Audit, "a", "2")), Known::ReusedId);
        deduplicator.insert(keys.key(Source::Audit, "a", "2"));
        for body in ["1", "2"] {
            assert_eq!(deduplicator.find(keys.key(Source::Audit, "a", body)), Known::Duplicate);
        }
        assert_eq!(deduplicator.find(keys.key(Source::Activity, "a", "1")), Known::New, "ids are compared per source");
    }
}
