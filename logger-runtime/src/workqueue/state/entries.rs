//! The keys of a queue: each stored once, found by its hash, and chained to its neighbours.

use std::time::Duration;

use hashbrown::HashTable;
use slab::Slab;
use tokio::time::Instant;

/// A key with its hash, which is made before the queue is locked.
pub(in crate::workqueue) struct Hashed<K> {
    pub(in crate::workqueue) hash: u64,
    pub(in crate::workqueue) key: K,
}

/// Where a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Waits for a worker.
    Ready,
    /// Waits for its time.
    Delayed,
    /// With a worker.
    AtWork,
}

/// When a delayed key is due, and which of those due at that time it is.
pub(super) type Due = (Instant, u64);

/// All that is known of one key.
pub(super) struct Entry<K> {
    pub(super) key: K,
    hash: u64,
    pub(super) place: Place,
    /// At work, and to come again when that is done.
    pub(super) again: bool,
    /// At work, and a retry was refused because the queue is shut down.
    pub(super) refused: bool,
    /// Of the delivery to come.
    pub(super) priority: i32,
    /// Of a delayed key, or of one at work that comes again later.
    pub(super) due: Option<Due>,
    /// The end of the back-off after its last counted failure.
    pub(super) retry_at: Option<Instant>,
    /// When the delivery to come was asked for.
    pub(super) accepted: Instant,
    /// When the work began.
    pub(super) started: Instant,
    previous: usize,
    next: usize,
}

impl<K> Entry<K> {
    /// Whether another delivery is asked for already, now or later.
    pub(super) fn is_asked_for(&self) -> bool {
        self.place != Place::AtWork || self.again || self.due.is_some()
    }

    /// How long it has been at work.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

const NONE: usize = usize::MAX;

/// For how many keys there may be room in an empty queue: what many more at once took is given back.
const KEPT: usize = 1024;

/// The entries, by number and by key. A number holds as long as its entry.
pub(super) struct Entries<K> {
    slots: Slab<Entry<K>>,
    numbers: HashTable<usize>,
}

impl<K> Default for Entries<K> {
    fn default() -> Self {
        Entries { slots: Slab::new(), numbers: HashTable::new() }
    }
}

impl<K: Eq> Entries<K> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn find(&self, hash: u64, key: &K) -> Option<usize> {
        let is_it = |number: &usize| self.slots[*number].hash == hash && self.slots[*number].key == *key;
        self.numbers.find(hash, is_it).copied()
    }

    /// Adds a key that is not there, as one at work: it is for the caller to say where it goes.
    pub(super) fn insert(&mut self, Hashed { hash, key }: Hashed<K>, now: Instant) -> usize {
        let number = self.slots.insert(Entry {
            key,
            hash,
            place: Place::AtWork,
            again: false,
            refused: false,
            priority: 0,
            due: None,
            retry_at: None,
            accepted: now,
            started: now,
            previous: NONE,
            next: NONE,
        });
        self.numbers.insert_unique(hash, number, |number| self.slots[*number].hash);
        number
    }

    pub(super) fn remove(&mut self, number: usize) -> Entry<K> {
        let entry = self.slots.remove(number);
        if let Ok(found) = self.numbers.find_entry(entry.hash, |other| *other == number) {
            found.remove();
        }
        if self.slots.is_empty() && self.slots.capacity() > KEPT {
            *self = Entries::default();
        }
        entry
    }
}

impl<K> std::ops::Index<usize> for Entries<K> {
    type Output = Entry<K>;

    fn index(&self, number: usize) -> &Entry<K> {
        &self.slots[number]
    }
}

impl<K> std::ops::IndexMut<usize> for Entries<K> {
    fn index_mut(&mut self, number: usize) -> &mut Entry<K> {
        &mut self.slots[number]
    }
}

/// A chain of entries, first in first out. An entry is in one chain at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    first: usize,
    last: usize,
}

impl Default for Chain {
    fn default() -> Self {
        Chain { first: NONE, last: NONE }
    }
}

impl Chain {
    pub(super) fn first(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first)
    }

    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, number: usize) {
        let entry = &mut entries[number];
        (entry.previous, entry.next) = (self.last, NONE);
        match self.last {
            NONE => self.first = number,
            last => entries[last].next = number,
        }
        self.last = number;
    }

    pub(super) fn remove<K>(&mut self, entries: &mut Entries<K>, number: usize) {
        let (previous, next) = (entries[number].previous, entries[number].next);
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
