//! The ids of recent records: a record that a client sends again is not written again.

use std::num::NonZeroUsize;

use lru::LruCache;

use crate::record::Source;

/// The ids of the most recent records, bounded. Ids are compared per source.
#[derive(Debug)]
pub struct Deduplicator {
    seen: LruCache<Box<str>, ()>,
}

impl Deduplicator {
    /// Creates an empty deduplicator that remembers this number of ids.
    #[must_use]
    pub fn new(capacity: NonZeroUsize) -> Self {
        // The table grows with the ids, not with the capacity.
        let mut seen = LruCache::unbounded();
        seen.resize(capacity);
        Deduplicator { seen }
    }

    /// Returns whether the id is known. A known id becomes the most recent one.
    pub fn contains(&mut self, source: Source, id: &str) -> bool {
        self.seen.get(key(source, id).as_str()).is_some()
    }

    /// Adds an id, and forgets the least recent one if there are too many.
    pub fn insert(&mut self, source: Source, id: &str) {
        self.seen.put(key(source, id).into_boxed_str(), ());
    }
}

fn key(source: Source, id: &str) -> String {
    format!("{}/{id}", source.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recent_id_is_forgotten() {
        let mut deduplicator = Deduplicator::new(NonZeroUsize::new(2).unwrap());
        deduplicator.insert(Source::Audit, "a");
        deduplicator.insert(Source::Audit, "b");
        assert!(deduplicator.contains(Source::Audit, "a"));
        deduplicator.insert(Source::Audit, "c");
        let known = ["a", "b", "c"].map(|id| deduplicator.contains(Source::Audit, id));
        assert_eq!(known, [true, false, true]);
        assert!(!deduplicator.contains(Source::Activity, "a"), "ids are compared per source");
    }
}
