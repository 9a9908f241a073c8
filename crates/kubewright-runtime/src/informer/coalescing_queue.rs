//! The pending events of a listener, coalesced per object, in the order in which the objects arrived.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry as HashEntry};

use super::event::Event;
use crate::object::ObjectKey;

/// The coalesced change of one object since the state that a listener last saw.
///
/// Guarantees:
/// - it results in the events that a listener needs to reach the current state, at most three: the object was changed,
///   deleted and recreated;
/// - an object that was added and deleted results in no event;
/// - an update contains the last state that the listener saw and the current one. An object that was changed and
///   deleted results in both events, as data of the last state, such as another owner, can matter to the listener.
#[derive(Debug)]
pub(super) struct PendingChange<K: ?Sized> {
    /// The last state that the listener saw; `None` if it saw none.
    seen: Option<Arc<K>>,
    /// The deletion of the seen object. Boxed, since it is rare and would enlarge every entry.
    deletion: Option<Box<Deletion<K>>>,
    /// The current state; `None` if deleted.
    current: Option<Arc<K>>,
    initial: bool,
}

#[derive(Debug)]
struct Deletion<K: ?Sized> {
    /// The last state before the deletion, if the listener has not seen it.
    last: Option<Arc<K>>,
    object: Arc<K>,
    final_state_unknown: bool,
}

impl<K: ?Sized> PendingChange<K> {
    fn new(event: Event<K>) -> Self {
        let empty = PendingChange { seen: None, deletion: None, current: None, initial: false };
        match event {
            Event::Added { object, initial } => PendingChange { current: Some(object), initial, ..empty },
            Event::Updated { old, new } => PendingChange { seen: Some(old), current: Some(new), ..empty },
            Event::Deleted { ref object, .. } => {
                let mut change = PendingChange { seen: Some(Arc::clone(object)), ..empty };
                change.merge(event);
                change
            }
        }
    }

    /// Merges the next event of the object.
    fn merge(&mut self, event: Event<K>) {
        match event {
            Event::Added { object, .. } | Event::Updated { new: object, .. } => self.current = Some(object),
            Event::Deleted { object, final_state_unknown } => {
                let last = self.current.take();
                if self.seen.is_some() && self.deletion.is_none() {
                    self.deletion = Some(Box::new(Deletion { last, object, final_state_unknown }));
                }
            }
        }
    }

    /// Returns whether the change results in no event.
    fn is_empty(&self) -> bool {
        self.current.is_none() && self.deletion.is_none()
    }

    /// Returns whether this is the addition of an initial object.
    pub(super) fn is_initial(&self) -> bool {
        self.initial
    }

    /// Converts the objects. Equal references remain equal, and objects that convert to `None` are omitted.
    pub(super) fn filter_map<T: ?Sized>(self, to: impl Fn(Arc<K>) -> Option<Arc<T>>) -> PendingChange<T> {
        let PendingChange { seen, deletion, current, initial } = self;
        let converted = seen.clone().and_then(&to);
        let convert = |object: Arc<K>| match &seen {
            Some(seen) if Arc::ptr_eq(seen, &object) => converted.clone(),
            _ => to(object),
        };
        let deletion = deletion.and_then(|deletion| {
            let Deletion { last, object, final_state_unknown } = *deletion;
            Some(Box::new(Deletion { last: last.and_then(convert), object: convert(object)?, final_state_unknown }))
        });
        PendingChange { deletion, current: current.and_then(convert), seen: converted, initial }
    }

    /// Returns the events of a listener with a filter: an object that starts to pass is added, one that stops is
    /// deleted.
    pub(super) fn into_events(self, passes: impl Fn(&K) -> bool) -> [Option<Event<K>>; 3] {
        let mut seen = self.seen.filter(|seen| passes(seen));
        let Some(deletion) = self.deletion else {
            return [None, None, self.current.and_then(|current| transition(seen, current, self.initial, passes))];
        };
        let Deletion { last, object, final_state_unknown } = *deletion;
        let last = last.filter(|last| seen.as_ref().is_some_and(|seen| !Arc::ptr_eq(seen, last)));
        let changed = last.and_then(|last| transition(seen.clone(), last, false, &passes));
        if matches!(changed, Some(Event::Deleted { .. })) {
            seen = None;
        }
        let deleted = seen.map(|_| Event::Deleted { object, final_state_unknown });
        [changed, deleted, self.current.and_then(|current| transition(None, current, false, passes))]
    }
}

/// Returns the event from the seen state to the current one.
fn transition<K: ?Sized>(
    seen: Option<Arc<K>>,
    current: Arc<K>,
    initial: bool,
    passes: impl Fn(&K) -> bool,
) -> Option<Event<K>> {
    match (seen, passes(&current)) {
        (None, true) => Some(Event::Added { object: current, initial }),
        (Some(old), true) => Some(Event::Updated { old, new: current }),
        (Some(old), false) => Some(Event::Deleted { object: old, final_state_unknown: false }),
        (None, false) => None,
    }
}

/// The pending events of a listener.
///
/// Guarantees:
/// - objects are returned in the order in which they were first pushed;
/// - up to `cap` events that are not initial are stored one by one. Further events are merged into the pending change
///   of their object, so the number of entries is at most `cap` plus one per object that exists or was seen by the
///   listener.
#[derive(Debug)]
pub(super) struct CoalescingQueue<K: ?Sized> {
    /// A removed entry leaves a gap.
    entries: VecDeque<Option<Entry<K>>>,
    /// The sequence number of the first entry. The numbers are consecutive.
    first: u64,
    /// The sequence number of the last entry of each object.
    last_entries: HashTable<u64>,
    hasher: DefaultHashBuilder,
    cap: usize,
    len: usize,
    initial: usize,
}

#[derive(Debug)]
struct Entry<K: ?Sized> {
    key: ObjectKey,
    change: PendingChange<K>,
    /// The sequence number of the previous entry of the same object, which may have been popped since.
    previous: Option<u64>,
}

/// The capacity that an empty queue retains. Larger buffers are released.
const RETAINED_CAPACITY: usize = 256;

impl<K: ?Sized> CoalescingQueue<K> {
    /// Creates an empty queue. With a cap of 0 every event is merged into the pending change of its object.
    pub(super) fn new(cap: usize) -> Self {
        CoalescingQueue {
            entries: VecDeque::new(),
            first: 0,
            last_entries: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            cap,
            len: 0,
            initial: 0,
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of initial additions.
    pub(super) fn initial(&self) -> usize {
        self.initial
    }

    /// Returns whether further events are merged.
    pub(super) fn is_full(&self) -> bool {
        self.len - self.initial >= self.cap
    }

    /// Adds an event.
    pub(super) fn push(&mut self, key: &ObjectKey, event: Event<K>) {
        match self.last_entry(key) {
            Some(sequence) if self.is_full() => self.merge(sequence, event),
            _ => self.append(key.clone(), PendingChange::new(event)),
        }
    }

    /// Adds an object for a resync, unless an event of it is pending.
    pub(super) fn push_resync(&mut self, key: &ObjectKey, object: &Arc<K>) {
        if self.last_entry(key).is_none() {
            let event = Event::Updated { old: Arc::clone(object), new: Arc::clone(object) };
            self.append(key.clone(), PendingChange::new(event));
        }
    }

    /// Removes the first entry.
    pub(super) fn pop(&mut self) -> Option<PendingChange<K>> {
        while let Some(entry) = self.entries.pop_front() {
            let sequence = self.first;
            self.first += 1;
            let Some(Entry { key, change, .. }) = entry else { continue };
            let hash = self.hasher.hash_one(&key);
            if let Ok(last) = self.last_entries.find_entry(hash, |last| *last == sequence) {
                last.remove();
            }
            self.uncount(&change);
            return Some(change);
        }
        self.release_buffers();
        None
    }

    fn last_entry(&self, key: &ObjectKey) -> Option<u64> {
        let has_key = |sequence: &u64| self.entry(*sequence).is_some_and(|entry| entry.key == *key);
        self.last_entries.find(self.hasher.hash_one(key), has_key).copied()
    }

    fn entry(&self, sequence: u64) -> Option<&Entry<K>> {
        self.entries.get(self.index(sequence)?)?.as_ref()
    }

    fn index(&self, sequence: u64) -> Option<usize> {
        usize::try_from(sequence.checked_sub(self.first)?).ok()
    }

    fn append(&mut self, key: ObjectKey, change: PendingChange<K>) {
        self.len += 1;
        self.initial += usize::from(change.initial);
        let sequence = self.first + self.entries.len() as u64;
        let previous = self.link(&key, sequence);
        self.entries.push_back(Some(Entry { key, change, previous }));
    }

    /// Sets the last entry of an object and returns the previous one.
    fn link(&mut self, key: &ObjectKey, sequence: u64) -> Option<u64> {
        let CoalescingQueue { entries, first, last_entries, hasher, .. } = self;
        let key_of = |sequence: u64| {
            let index = usize::try_from(sequence - *first).expect("entries are in memory");
            &entries[index].as_ref().expect("the last entry of an object is not removed").key
        };
        match last_entries.entry(
            hasher.hash_one(key),
            |last| key_of(*last) == key,
            |last| hasher.hash_one(key_of(*last)),
        ) {
            HashEntry::Occupied(mut last) => Some(std::mem::replace(last.get_mut(), sequence)),
            HashEntry::Vacant(last) => {
                last.insert(sequence);
                None
            }
        }
    }

    /// Merges an event into an entry, and removes the entry if it is empty then.
    fn merge(&mut self, sequence: u64, event: Event<K>) {
        let Some(index) = self.index(sequence) else { return };
        let Some(Some(entry)) = self.entries.get_mut(index) else { return };
        entry.change.merge(event);
        if entry.change.is_empty() {
            let removed = self.entries[index].take();
            removed.into_iter().for_each(|entry| self.unlink(sequence, &entry));
        }
    }

    fn unlink(&mut self, sequence: u64, entry: &Entry<K>) {
        self.uncount(&entry.change);
        let previous = entry.previous.filter(|previous| *previous >= self.first);
        let hash = self.hasher.hash_one(&entry.key);
        if let Ok(mut last) = self.last_entries.find_entry(hash, |last| *last == sequence) {
            match previous {
                Some(previous) => *last.get_mut() = previous,
                None => drop(last.remove()),
            }
        }
        if self.entries.len() > 2 * self.len + RETAINED_CAPACITY {
            self.compact();
        }
    }

    fn uncount(&mut self, change: &PendingChange<K>) {
        self.len -= 1;
        self.initial -= usize::from(change.initial);
    }

    /// Removes the gaps, which bounds their number.
    fn compact(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        self.last_entries.clear();
        (self.first, self.len, self.initial) = (0, 0, 0);
        entries.into_iter().flatten().for_each(|entry| self.append(entry.key, entry.change));
    }

    fn release_buffers(&mut self) {
        if self.entries.capacity() > RETAINED_CAPACITY {
            self.entries = VecDeque::new();
            self.last_entries = HashTable::new();
        }
    }
}
