//! How often keys failed.

use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

/// Failures of each key since it was last forgotten. As many entries as keys that failed.
#[derive(Debug)]
pub(super) struct Failures<K> {
    counts: Mutex<HashMap<K, u32>>,
    /// How many keys are there, so that a queue in which nothing fails takes no lock to forget.
    keys: AtomicUsize,
}

impl<K> Default for Failures<K> {
    fn default() -> Self {
        Failures { counts: Mutex::default(), keys: AtomicUsize::new(0) }
    }
}

impl<K: Clone + Eq + Hash> Failures<K> {
    /// Notes one more, and tells how many there were before.
    pub(super) fn add(&self, key: &K) -> u32 {
        let mut counts = self.counts();
        let count = counts.entry_ref(key).or_insert(0);
        let before = *count;
        *count = before.saturating_add(1);
        self.keys.store(counts.len(), Ordering::Release);
        before
    }

    pub(super) fn forget(&self, key: &K) {
        // A failure that this misses is noted at the same time by another worker: it may as well come after.
        if self.keys.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut counts = self.counts();
        counts.remove(key);
        self.keys.store(counts.len(), Ordering::Release);
    }

    pub(super) fn of(&self, key: &K) -> u32 {
        self.counts().get(key).copied().unwrap_or_default()
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<K, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
