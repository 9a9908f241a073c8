//! A bounded cache of decoded objects.

use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;

/// The maximum size of all objects together, in bytes of JSON.
const CAPACITY: usize = 2 << 20;
/// Objects of more than this size are not cached, so that one of them does not evict many others.
const MAX_SIZE: usize = CAPACITY / 8;
/// What an object costs in addition to its JSON.
const OVERHEAD: usize = 512;

/// The decoded objects that were read or changed last, by the number of their state. Their sizes are bounded.
pub(super) struct HotObjects<K>(Mutex<State<K>>);

struct State<K> {
    objects: LruCache<u64, HotObject<K>>,
    size: usize,
}

struct HotObject<K> {
    object: Arc<K>,
    size: usize,
}

impl<K> Default for HotObjects<K> {
    fn default() -> Self {
        HotObjects(Mutex::new(State { objects: LruCache::unbounded(), size: 0 }))
    }
}

impl<K> HotObjects<K> {
    pub(super) fn get(&self, id: u64) -> Option<Arc<K>> {
        self.0.lock().objects.get(&id).map(|hot| Arc::clone(&hot.object))
    }

    /// Returns whether an object with this length of JSON can be added without evicting others.
    pub(super) fn has_room(&self, json_len: usize) -> bool {
        let size = json_len.saturating_add(OVERHEAD);
        size <= MAX_SIZE && self.0.lock().size + size <= CAPACITY
    }

    /// Adds an object, and evicts those that were not read for the longest time.
    pub(super) fn insert(&self, id: u64, object: Arc<K>, json_len: usize) {
        let size = json_len.saturating_add(OVERHEAD);
        if size > MAX_SIZE {
            return;
        }
        let mut removed = Vec::new();
        let mut state = self.0.lock();
        state.size += size;
        removed.extend(state.objects.put(id, HotObject { object, size }).inspect(|known| state.size -= known.size));
        while state.size > CAPACITY {
            let Some((_, evicted)) = state.objects.pop_lru() else { break };
            state.size -= evicted.size;
            removed.push(evicted);
        }
        // They can be the last references to large objects, so they are dropped without the lock.
        drop(state);
        drop(removed);
    }

    /// Removes an object whose state is no longer referred to.
    pub(super) fn remove(&self, id: u64) {
        let mut state = self.0.lock();
        let removed = state.objects.pop(&id).inspect(|known| state.size -= known.size);
        drop(state);
        drop(removed);
    }

    /// Returns the number of objects and their size.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        let state = self.0.lock();
        (state.objects.len(), state.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_that_were_not_read_for_the_longest_time_are_evicted() {
        let hot = HotObjects::default();
        let size = CAPACITY / 10 - OVERHEAD;
        (0..10).for_each(|id| hot.insert(id, Arc::new(id), size));
        assert!(hot.get(0).is_some(), "it is the last one that was read");
        assert!(!hot.has_room(size));
        hot.insert(10, Arc::new(10), size);
        assert_eq!((hot.get(0).as_deref(), hot.get(1), hot.get(10).as_deref()), (Some(&0), None, Some(&10)));
        assert!(hot.len().1 <= CAPACITY, "{:?}", hot.len());
    }

    #[test]
    fn a_state_is_replaced_and_large_objects_are_not_cached() {
        let hot = HotObjects::default();
        hot.insert(1, Arc::new("old"), 100);
        hot.insert(1, Arc::new("new"), 200);
        assert_eq!((hot.get(1).as_deref(), hot.len()), (Some(&"new"), (1, 200 + OVERHEAD)));
        assert!(!hot.has_room(MAX_SIZE) && !hot.has_room(usize::MAX));
        hot.insert(2, Arc::new("large"), MAX_SIZE);
        assert!(hot.get(2).is_none());
        hot.remove(2);
        hot.remove(1);
        assert_eq!(hot.len(), (0, 0));
    }
}
