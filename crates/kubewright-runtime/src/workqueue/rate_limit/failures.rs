//! Failure counts per key.

use std::{
    hash::Hash,
    sync::atomic::{AtomicUsize, Ordering},
};

use hashbrown::HashMap;
use parking_lot::Mutex;

/// The failures of each key since it was last forgotten. Only keys that failed have an entry.
#[derive(Debug)]
pub(super) struct Failures<K> {
    counts: Mutex<HashMap<K, u32>>,
    /// The number of entries, so that forgetting takes no lock in a queue without failures.
    keys: AtomicUsize,
}

impl<K> Default for Failures<K> {
    fn default() -> Self {
        Failures { counts: Mutex::default(), keys: AtomicUsize::new(0) }
    }
}

impl<K: Clone + Eq + Hash> Failures<K> {
    /// Counts a failure and returns the previous count.
    pub(super) fn add(&self, key: &K) -> u32 {
        let mut counts = self.counts.lock();
        let count = counts.entry_ref(key).or_insert(0);
        let before = *count;
        *count = before.saturating_add(1);
        self.keys.store(counts.len(), Ordering::Release);
        before
    }

    pub(super) fn forget(&self, key: &K) {
        // A failure missed here is counted concurrently by another worker, so it may be ordered after this call.
        if self.keys.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut counts = self.counts.lock();
        counts.remove(key);
        self.keys.store(counts.len(), Ordering::Release);
    }

    pub(super) fn count(&self, key: &K) -> u32 {
        self.counts.lock().get(key).copied().unwrap_or_default()
    }
}
