//! What a listener has not heard yet: at most one entry for each object, in the order the objects came.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::event::Event;
use crate::key::ObjectKey;

/// What became of one object since a listener last heard of it.
///
/// It promises, of `known` and all events since:
/// - what comes out is what the listener must hear to know what is there now, and never more than three events: that the object
///   changed, went, and is there anew;
/// - an object that came and went is nothing;
/// - an update tells of the state that the listener knows and of the latest. An object that changed and went is told of in
///   both: what was only in the last state, such as another owner, may matter to the listener.
#[derive(Debug)]
pub(super) struct Unheard<K: ?Sized> {
    /// What the listener was last told; `None` if it knows of no such object.
    known: Option<Arc<K>>,
    /// That one is gone. Boxed, since it is rare and each entry would be larger by it.
    gone: Option<Box<Gone<K>>>,
    /// What is there now.
    now: Option<Arc<K>>,
    initial: bool,
}

#[derive(Debug)]
struct Gone<K: ?Sized> {
    /// What it had become before, if the listener has not heard of that.
    last: Option<Arc<K>>,
    object: Arc<K>,
    final_state_unknown: bool,
}

impl<K: ?Sized> Unheard<K> {
    /// One event, of an object of which all was heard before.
    fn new(event: Event<K>) -> Self {
        let nothing = Unheard { known: None, gone: None, now: None, initial: false };
        match event {
            Event::Added { object, initial } => Unheard { now: Some(object), initial, ..nothing },
            Event::Updated { old, new } => Unheard { known: Some(old), now: Some(new), ..nothing },
            Event::Deleted { ref object, .. } => {
                let mut unheard = Unheard { known: Some(Arc::clone(object)), ..nothing };
                unheard.then(event);
                unheard
            }
        }
    }

    /// The next event.
    fn then(&mut self, event: Event<K>) {
        match event {
            Event::Added { object, .. } | Event::Updated { new: object, .. } => self.now = Some(object),
            Event::Deleted { object, final_state_unknown } => {
                let last = self.now.take();
                if self.known.is_some() && self.gone.is_none() {
                    self.gone = Some(Box::new(Gone { last, object, final_state_unknown }));
                }
            }
        }
    }

    /// The listener need not hear of it.
    fn is_nothing(&self) -> bool {
        self.now.is_none() && self.gone.is_none()
    }

    /// It was there before the listener or the informer began.
    pub(super) fn is_initial(&self) -> bool {
        self.initial
    }

    /// What to tell a listener that hears of those objects only which pass: that one comes to pass is an addition, that it
    /// does no more a deletion.
    pub(super) fn tell(self, passes: impl Fn(&K) -> bool) -> [Option<Event<K>>; 3] {
        let mut known = self.known.filter(|known| passes(known));
        let Some(gone) = self.gone else {
            return [None, None, self.now.and_then(|now| change(known, now, self.initial, passes))];
        };
        let Gone { last, object, final_state_unknown } = *gone;
        let last = last.filter(|last| known.as_ref().is_some_and(|known| !Arc::ptr_eq(known, last)));
        let changed = last.and_then(|last| change(known.clone(), last, false, &passes));
        if matches!(changed, Some(Event::Deleted { .. })) {
            known = None;
        }
        let gone = known.map(|_| Event::Deleted { object, final_state_unknown });
        [changed, gone, self.now.and_then(|now| change(None, now, false, passes))]
    }
}

/// From the state that is known to what is there now.
fn change<K: ?Sized>(
    known: Option<Arc<K>>,
    now: Arc<K>,
    initial: bool,
    passes: impl Fn(&K) -> bool,
) -> Option<Event<K>> {
    match (known, passes(&now)) {
        (None, true) => Some(Event::Added { object: now, initial }),
        (Some(old), true) => Some(Event::Updated { old, new: now }),
        (Some(old), false) => Some(Event::Deleted { object: old, final_state_unknown: false }),
        (None, false) => None,
    }
}

/// What a listener has not heard yet.
///
/// It promises:
/// - objects come out in the order in which they first came in;
/// - up to `cap` events that are not initial are kept one by one; beyond, an event is joined to what waits of its object.
///   So there are never more entries than that and one for each object that is there or that the listener knows of.
#[derive(Debug)]
pub(super) struct Backlog<K: ?Sized> {
    /// What came to nothing leaves a gap.
    entries: VecDeque<Option<Entry<K>>>,
    /// The number of the first of them; they are numbered one after the other.
    first: u64,
    /// The number of the last entry of each object.
    last: HashTable<u64>,
    hasher: DefaultHashBuilder,
    cap: usize,
    len: usize,
    initial: usize,
}

#[derive(Debug)]
struct Entry<K: ?Sized> {
    key: ObjectKey,
    unheard: Unheard<K>,
    /// The number of the entry of the same object before this one; it may have come out since.
    before: Option<u64>,
}

/// Buffers are given back beyond this many entries, once all came out.
const KEPT: usize = 256;

impl<K: ?Sized> Backlog<K> {
    /// Nothing yet; with a cap of 0 every event is joined to what waits of its object.
    pub(super) fn new(cap: usize) -> Self {
        Backlog {
            entries: VecDeque::new(),
            first: 0,
            last: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            cap,
            len: 0,
            initial: 0,
        }
    }

    /// How many entries wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many of them are initial additions.
    pub(super) fn initial(&self) -> usize {
        self.initial
    }

    /// Another event would have to be joined to what waits.
    pub(super) fn is_full(&self) -> bool {
        self.len - self.initial >= self.cap
    }

    /// Notes an event.
    pub(super) fn push(&mut self, key: &ObjectKey, event: Event<K>) {
        match self.last_of(key) {
            Some(number) if self.is_full() => self.join(number, event),
            _ => self.append(key.clone(), Unheard::new(event)),
        }
    }

    /// Tells of an object again, unless something of it waits anyway.
    pub(super) fn resync(&mut self, key: &ObjectKey, object: &Arc<K>) {
        if self.last_of(key).is_none() {
            let event = Event::Updated { old: Arc::clone(object), new: Arc::clone(object) };
            self.append(key.clone(), Unheard::new(event));
        }
    }

    /// What came first.
    pub(super) fn pop(&mut self) -> Option<Unheard<K>> {
        while let Some(entry) = self.entries.pop_front() {
            let number = self.first;
            self.first += 1;
            let Some(Entry { key, unheard, .. }) = entry else { continue };
            let hash = self.hasher.hash_one(&key);
            if let Ok(last) = self.last.find_entry(hash, |last| *last == number) {
                last.remove();
            }
            self.forget(&unheard);
            return Some(unheard);
        }
        self.give_back();
        None
    }

    fn last_of(&self, key: &ObjectKey) -> Option<u64> {
        let is_of_key = |number: &u64| self.entry(*number).is_some_and(|entry| entry.key == *key);
        self.last.find(self.hasher.hash_one(key), is_of_key).copied()
    }

    fn entry(&self, number: u64) -> Option<&Entry<K>> {
        self.entries.get(self.place(number)?)?.as_ref()
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    fn append(&mut self, key: ObjectKey, unheard: Unheard<K>) {
        self.len += 1;
        self.initial += usize::from(unheard.initial);
        let number = self.first + self.entries.len() as u64;
        let before = self.link(&key, number);
        self.entries.push_back(Some(Entry { key, unheard, before }));
    }

    /// Has the last entry of an object be this one; returns which it was before.
    fn link(&mut self, key: &ObjectKey, number: u64) -> Option<u64> {
        let Backlog { entries, first, last, hasher, .. } = self;
        let key_of = |number: u64| {
            let place = usize::try_from(number - *first).expect("entries are in memory");
            &entries[place].as_ref().expect("the last entry of an object waits").key
        };
        match last.entry(hasher.hash_one(key), |of| key_of(*of) == key, |of| hasher.hash_one(key_of(*of))) {
            Slot::Occupied(mut slot) => Some(std::mem::replace(slot.get_mut(), number)),
            Slot::Vacant(slot) => {
                slot.insert(number);
                None
            }
        }
    }

    /// Joins an event to an entry; one that comes to nothing is taken out.
    fn join(&mut self, number: u64, event: Event<K>) {
        let Some(place) = self.place(number) else { return };
        let Some(Some(entry)) = self.entries.get_mut(place) else { return };
        entry.unheard.then(event);
        if entry.unheard.is_nothing() {
            let gap = self.entries[place].take();
            gap.into_iter().for_each(|entry| self.unlink(number, &entry));
        }
    }

    fn unlink(&mut self, number: u64, entry: &Entry<K>) {
        self.forget(&entry.unheard);
        let before = entry.before.filter(|before| *before >= self.first);
        let hash = self.hasher.hash_one(&entry.key);
        if let Ok(mut last) = self.last.find_entry(hash, |last| *last == number) {
            match before {
                Some(before) => *last.get_mut() = before,
                None => drop(last.remove()),
            }
        }
        if self.entries.len() > 2 * self.len + KEPT {
            self.close_gaps();
        }
    }

    fn forget(&mut self, unheard: &Unheard<K>) {
        self.len -= 1;
        self.initial -= usize::from(unheard.initial);
    }

    /// Numbers the entries anew, so that there are never many more gaps than entries.
    fn close_gaps(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        self.last.clear();
        (self.first, self.len, self.initial) = (0, 0, 0);
        entries.into_iter().flatten().for_each(|entry| self.append(entry.key, entry.unheard));
    }

    fn give_back(&mut self) {
        if self.entries.capacity() > KEPT {
            self.entries = VecDeque::new();
            self.last = HashTable::new();
        }
    }
}

#[cfg(test)]
mod tests;
