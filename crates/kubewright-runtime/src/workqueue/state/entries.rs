//! The entries of a queue: each key stored once, found by its hash, and linked into first-in-first-out lists.

use std::time::Duration;

use hashbrown::HashTable;
use slab::Slab;
use tokio::time::Instant;

/// A key with its hash, which is computed before the queue is locked.
pub(in crate::workqueue) struct Hashed<K> {
    pub(in crate::workqueue) hash: u64,
    pub(in crate::workqueue) key: K,
}

/// Where a key is in its life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Ready for a worker.
    Ready,
    /// Not due yet.
    Delayed,
    /// Held by a worker.
    Processing,
}

/// When a delayed key is due, and its position among keys due at the same time.
pub(super) type Due = (Instant, u64);

/// The state of one key.
pub(super) struct Entry<K> {
    pub(super) key: K,
    hash: u64,
    pub(super) phase: Phase,
    /// Added again while it is being processed: requeued when that is done.
    pub(super) requeue: bool,
    /// A retry of this key, which is being processed, was rejected because the queue is shut down.
    pub(super) retry_rejected: bool,
    /// The priority of the next delivery.
    pub(super) priority: i32,
    /// When a delayed key, or a key being processed with a delayed retry, is due.
    pub(super) due: Option<Due>,
    /// The end of the back-off after the last counted failure.
    pub(super) backoff_until: Option<Instant>,
    /// When the next delivery was accepted.
    pub(super) accepted: Instant,
    /// When processing started.
    pub(super) started: Instant,
    previous: usize,
    next: usize,
}

impl<K> Entry<K> {
    /// Returns whether another delivery is already requested, now or later.
    pub(super) fn is_requested(&self) -> bool {
        self.phase != Phase::Processing || self.requeue || self.due.is_some()
    }

    /// Returns how long the key has been processed.
    pub(super) fn processing_time(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

const NONE: usize = usize::MAX;

/// The capacity that an empty queue retains. Memory for more keys is released.
const RETAINED_CAPACITY: usize = 1024;

/// The entries, by slot and by key. The slot of an entry does not change.
pub(super) struct Entries<K> {
    slots: Slab<Entry<K>>,
    by_hash: HashTable<usize>,
}

impl<K> Default for Entries<K> {
    fn default() -> Self {
        Entries { slots: Slab::new(), by_hash: HashTable::new() }
    }
}

impl<K: Eq> Entries<K> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn find(&self, hash: u64, key: &K) -> Option<usize> {
        let is_match = |slot: &usize| self.slots[*slot].hash == hash && self.slots[*slot].key == *key;
        self.by_hash.find(hash, is_match).copied()
    }

    /// Adds a key that is not stored, as one being processed. The caller sets its phase.
    pub(super) fn insert(&mut self, Hashed { hash, key }: Hashed<K>, now: Instant) -> usize {
        let slot = self.slots.insert(Entry {
            key,
            hash,
            phase: Phase::Processing,
            requeue: false,
            retry_rejected: false,
            priority: 0,
            due: None,
            backoff_until: None,
            accepted: now,
            started: now,
            previous: NONE,
            next: NONE,
        });
        self.by_hash.insert_unique(hash, slot, |slot| self.slots[*slot].hash);
        slot
    }

    pub(super) fn remove(&mut self, slot: usize) -> Entry<K> {
        let entry = self.slots.remove(slot);
        if let Ok(found) = self.by_hash.find_entry(entry.hash, |other| *other == slot) {
            found.remove();
        }
        if self.slots.is_empty() && self.slots.capacity() > RETAINED_CAPACITY {
            *self = Entries::default();
        }
        entry
    }
}

impl<K> std::ops::Index<usize> for Entries<K> {
    type Output = Entry<K>;

    fn index(&self, slot: usize) -> &Entry<K> {
        &self.slots[slot]
    }
}

impl<K> std::ops::IndexMut<usize> for Entries<K> {
    fn index_mut(&mut self, slot: usize) -> &mut Entry<K> {
        &mut self.slots[slot]
    }
}

/// A doubly linked first-in-first-out list of entries. An entry is in at most one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    first: usize,
    last: usize,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { first: NONE, last: NONE }
    }
}

impl Fifo {
    pub(super) fn first(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first)
    }

    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, slot: usize) {
        let entry = &mut entries[slot];
        (entry.previous, entry.next) = (self.last, NONE);
        match self.last {
            NONE => self.first = slot,
            last => entries[last].next = slot,
        }
        self.last = slot;
    }

    pub(super) fn remove<K>(&mut self, entries: &mut Entries<K>, slot: usize) {
        let (previous, next) = (entries[slot].previous, entries[slot].next);
        match previous {
            NONE => self.first = next,
            previous => entries[previous].next = next,
        }
        match next {
            NONE => self.last = previous,
            next => entries[next].previous = previous,
        }
    }
}
