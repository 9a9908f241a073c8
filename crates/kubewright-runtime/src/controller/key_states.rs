//! The states of keys: what a controller stores about each key besides its place in the queue.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tracing::level_filters::LevelFilter;

use super::{
    gate::PendingWrite,
    loop_guard::Causes,
    trigger::{Change, Trigger},
};
use crate::{
    object::{ObjectKey, ResourceVersion},
    sharding::Slot,
};

/// Up to this number of keys, no cleanup runs, and an empty table retains its memory.
const MIN_CLEANUP_SIZE: usize = 1024;

/// The states of the keys of a controller.
///
/// Guarantees:
/// - of several triggers of a key, the last event is recorded, and a requeue only without one. None is recorded while
///   spans are disabled;
/// - the causes of reconciliations are only stored for keys that are being processed, or whose last reconciliation
///   wrote the object;
/// - the slot of a deleted object is only stored while its key is in the queue or being processed;
/// - writes that the caches contain are removed when their key is processed, and for all keys when the number of keys
///   has doubled;
/// - a key whose state is empty uses no memory.
#[derive(Default)]
pub(super) struct KeyStates(Mutex<States>);

#[derive(Default)]
struct States {
    by_key: HashMap<ObjectKey, KeyState>,
    /// The number of keys at which the next cleanup runs: twice the number after the last one, so that its amortized
    /// cost is constant.
    cleanup_size: usize,
}

/// The state of one key.
#[derive(Default)]
struct KeyState {
    /// Why the key is in the queue.
    trigger: Option<Trigger>,
    /// What can cause the next reconciliation; stored from the start of a recorded one.
    causes: Option<Box<Causes>>,
    /// The last write to each object that was not in its cache.
    writes: Vec<PendingWrite>,
    /// The slot of the object, which was deleted.
    deleted_slot: Option<Slot>,
}

impl KeyState {
    fn is_empty(&self) -> bool {
        let KeyState { trigger, causes, writes, deleted_slot } = self;
        trigger.is_none() && causes.is_none() && writes.is_empty() && deleted_slot.is_none()
    }

    fn remove_completed_writes(&mut self) {
        self.writes.retain(|write| !write.is_completed());
    }
}

impl KeyStates {
    /// Records an event for a key, before the key is added to the queue: with the version of the reconciled object
    /// after an update, `None` for any other event.
    pub(super) fn record_event(&self, key: &ObjectKey, kind: &Arc<str>, change: Change, version: Option<&str>) {
        self.update(key, |state| {
            if let Some(causes) = &mut state.causes {
                causes.record(version);
            }
            if is_enabled() {
                state.trigger = Some(Trigger::Event(Arc::clone(kind), change));
            }
        });
    }

    /// Records that a key is requeued. Its trigger is that of an event since the start of its reconciliation, if there
    /// was one.
    pub(super) fn record_requeue(&self, key: &ObjectKey, trigger: Trigger) {
        self.update(key, |state| {
            if let Some(causes) = &mut state.causes {
                causes.record(None);
            }
            if is_enabled() {
                state.trigger.get_or_insert(trigger);
            }
        });
    }

    /// Removes the trigger of a key whose reconciliation starts.
    pub(super) fn take_trigger(&self, key: &ObjectKey) -> Trigger {
        self.update(key, |state| state.trigger.take()).unwrap_or_default()
    }

    /// Starts the reconciliation of a key. Returns whether only the controller's own writes to the object caused it.
    pub(super) fn start(&self, key: &ObjectKey) -> bool {
        self.update(key, |state| state.causes.get_or_insert_default().start())
    }

    /// Records a write to the reconciled object.
    pub(super) fn record_write(&self, key: &ObjectKey, version: &ResourceVersion) {
        self.update(key, |state| {
            if let Some(causes) = &mut state.causes {
                causes.record_write(version);
            }
        });
    }

    /// Ends the reconciliation of a key. Returns the number of self-triggered ones in a row if it must be reported.
    pub(super) fn end(&self, key: &ObjectKey) -> Option<u32> {
        self.update(key, |state| {
            let causes = state.causes.as_mut()?;
            if causes.is_converged() {
                state.causes = None;
                return None;
            }
            causes.end()
        })
    }

    /// Adds a write for which the next reconciliation of a key waits.
    pub(super) fn add_write(&self, key: &ObjectKey, write: PendingWrite) {
        self.update(key, |state| {
            state.writes.retain(|other| !other.is_to_same_object(&write));
            state.writes.push(write);
        });
    }

    /// Returns the writes for which the reconciliation of a key waits.
    pub(super) fn pending_writes(&self, key: &ObjectKey) -> Vec<PendingWrite> {
        self.update(key, |state| {
            state.remove_completed_writes();
            state.writes.clone()
        })
    }

    /// Records the slot of a deleted object.
    pub(super) fn set_deleted_slot(&self, key: &ObjectKey, slot: Slot) {
        self.update(key, |state| state.deleted_slot = Some(slot));
    }

    pub(super) fn deleted_slot(&self, key: &ObjectKey) -> Option<Slot> {
        self.0.lock().by_key.get(key)?.deleted_slot
    }

    /// Removes the slot of a deleted object, whose deletion was processed.
    pub(super) fn remove_deleted_slot(&self, key: &ObjectKey) {
        self.update(key, |state| state.deleted_slot = None);
    }

    /// Removes the causes of a key whose object this process does not reconcile anymore.
    pub(super) fn remove_causes(&self, key: &ObjectKey) {
        self.update(key, |state| state.causes = None);
    }

    /// Removes the state of a key that this process does not reconcile, apart from its pending writes.
    pub(super) fn discard(&self, key: &ObjectKey) {
        self.update(key, |state| {
            *state = KeyState { writes: std::mem::take(&mut state.writes), ..KeyState::default() };
        });
    }

    /// Changes the state of a key, and removes it if it is empty.
    fn update<T>(&self, key: &ObjectKey, change: impl FnOnce(&mut KeyState) -> T) -> T {
        let mut states = self.0.lock();
        if let Some(state) = states.by_key.get_mut(key) {
            let result = change(state);
            if state.is_empty() {
                states.remove(key);
            }
            return result;
        }
        let mut state = KeyState::default();
        let result = change(&mut state);
        if !state.is_empty() {
            states.insert(key.clone(), state);
        }
        result
    }
}

impl States {
    fn insert(&mut self, key: ObjectKey, state: KeyState) {
        self.by_key.insert(key, state);
        if self.by_key.len() > self.cleanup_size.max(MIN_CLEANUP_SIZE) {
            self.by_key.retain(|_, state| {
                state.remove_completed_writes();
                !state.is_empty()
            });
            self.cleanup_size = self.by_key.len() * 2;
        }
    }

    fn remove(&mut self, key: &ObjectKey) {
        self.by_key.remove(key);
        if self.by_key.is_empty() && self.by_key.capacity() > MIN_CLEANUP_SIZE {
            *self = States::default();
        }
    }
}

/// Returns whether the spans of reconciliations can be enabled: whether there is a subscriber.
fn is_enabled() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::Registry;

    use super::*;

    /// Runs a test with a subscriber, so that triggers are recorded.
    fn with_spans(test: impl FnOnce()) {
        tracing::subscriber::with_default(Registry::default(), test);
    }

    fn kind() -> Arc<str> {
        Arc::from("ConfigMap")
    }

    #[test]
    fn the_last_event_is_recorded_and_a_requeue_only_without_one() {
        with_spans(|| {
            let (states, key) = (KeyStates::default(), ObjectKey::cluster("a"));
            states.record_event(&key, &kind(), Change::Added, None);
            states.record_event(&key, &kind(), Change::Updated, Some("2"));
            states.record_requeue(&key, Trigger::Retry);
            assert_eq!(states.take_trigger(&key).to_string(), "ConfigMap updated");
            states.record_requeue(&key, Trigger::RequeueAfter);
            assert_eq!(states.take_trigger(&key).to_string(), "requeue_after");
            assert_eq!(states.take_trigger(&key).to_string(), "queue");
        });
    }

    #[test]
    fn only_keys_with_a_state_use_memory() {
        with_spans(|| {
            let states = KeyStates::default();
            let keys: Vec<_> = (0..5000).map(|number| ObjectKey::cluster(&number.to_string())).collect();
            keys.iter().for_each(|key| states.record_event(key, &kind(), Change::Initial, None));
            assert_eq!(states.0.lock().by_key.len(), keys.len());
            keys.iter().for_each(|key| drop(states.take_trigger(key)));
            let capacity = states.0.lock().by_key.capacity();
            assert!(capacity <= MIN_CLEANUP_SIZE, "{capacity}");
        });
    }

    #[test]
    fn keys_that_write_nothing_use_no_memory() {
        let (states, key) = (KeyStates::default(), ObjectKey::cluster("a"));
        states.record_event(&key, &kind(), Change::Updated, Some("1"));
        assert!(!states.start(&key));
        assert_eq!(states.end(&key), None);
        assert!(states.0.lock().by_key.is_empty());
    }

    #[test]
    fn a_key_whose_causes_converged_uses_no_memory() {
        let (states, key) = (KeyStates::default(), ObjectKey::cluster("a"));
        states.start(&key);
        states.record_write(&key, &ResourceVersion::new("2"));
        assert_eq!(states.end(&key), None);
        states.record_event(&key, &kind(), Change::Updated, Some("2"));
        assert!(states.start(&key), "only the write caused it");
        assert_eq!(states.end(&key), None);
        assert!(states.0.lock().by_key.is_empty());
    }

    #[test]
    fn a_deleted_slot_is_stored_until_it_is_removed_or_the_key_is_discarded() {
        let (states, key, slot) = (KeyStates::default(), ObjectKey::cluster("a"), Slot::all().next().unwrap());
        for remove in [KeyStates::remove_deleted_slot, KeyStates::discard] {
            states.set_deleted_slot(&key, slot);
            assert_eq!(states.deleted_slot(&key), Some(slot));
            remove(&states, &key);
            assert!(states.0.lock().by_key.is_empty());
        }
    }
}
