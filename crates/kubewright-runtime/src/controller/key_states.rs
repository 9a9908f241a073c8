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

/// Up to this number of writes, no cleanup runs, and up to this number of keys, the table retains its memory.
const MIN_CLEANUP_SIZE: usize = 1024;

/// The states of the keys of a controller.
///
/// Guarantees:
/// - of several triggers of a key, the last event is recorded, and a requeue only without one. It is only stored while
///   the key is in the queue, and none is while spans are disabled;
/// - the causes of reconciliations are only stored for keys that are being processed, or whose last reconciliation
///   wrote the object;
/// - the slot of a deleted object is stored until a reconciliation that starts after the deletion is done;
/// - writes that the caches contain are removed when their key is taken from the queue, and for all keys when the
///   number of writes has doubled;
/// - a key whose state is empty uses no memory, and the table at most that of four times the keys.
#[derive(Default)]
pub(super) struct KeyStates(Mutex<States>);

#[derive(Default)]
struct States {
    by_key: HashMap<ObjectKey, KeyState>,
    /// The number of writes of all keys.
    writes: usize,
    /// The number of writes at which the next cleanup runs: twice the number after the last one, so that its amortized
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
    deleted_slot: Option<DeletedSlot>,
}

/// The slot of a deleted object.
#[derive(Clone, Copy)]
struct DeletedSlot {
    slot: Slot,
    /// Whether a reconciliation has started since the deletion.
    is_started: bool,
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
        let trigger = self.update(key, |state| {
            if let Some(deleted) = &mut state.deleted_slot {
                deleted.is_started = true;
            }
            state.trigger.take()
        });
        trigger.unwrap_or_default()
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
        let mut writes = self.0.lock().by_key.get(key).map(|state| state.writes.clone()).unwrap_or_default();
        let recorded = writes.len();
        // Without the lock, for which the handlers of events wait. Only the worker of the key adds writes.
        writes.retain(|write| !write.is_completed());
        if writes.len() < recorded {
            self.update(key, |state| state.writes.clone_from(&writes));
        }
        writes
    }

    /// Records the slot of a deleted object.
    pub(super) fn set_deleted_slot(&self, key: &ObjectKey, slot: Slot) {
        self.update(key, |state| state.deleted_slot = Some(DeletedSlot { slot, is_started: false }));
    }

    pub(super) fn deleted_slot(&self, key: &ObjectKey) -> Option<Slot> {
        self.0.lock().by_key.get(key)?.deleted_slot.map(|deleted| deleted.slot)
    }

    /// Removes the slot of a deleted object when a reconciliation is done, unless it was deleted during that one.
    pub(super) fn remove_deleted_slot(&self, key: &ObjectKey) {
        self.update(key, |state| state.deleted_slot = state.deleted_slot.filter(|deleted| !deleted.is_started));
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
        let mut guard = self.0.lock();
        let states = &mut *guard;
        if let Some(state) = states.by_key.get_mut(key) {
            let before = state.writes.len();
            let result = change(state);
            states.writes = states.writes + state.writes.len() - before;
            if state.is_empty() {
                states.by_key.remove(key);
                states.release_memory();
            }
            states.clean_up();
            return result;
        }
        let mut state = KeyState::default();
        let result = change(&mut state);
        if !state.is_empty() {
            states.writes += state.writes.len();
            states.by_key.insert(key.clone(), state);
            states.clean_up();
        }
        result
    }
}

impl States {
    /// Removes completed writes if there are many.
    fn clean_up(&mut self) {
        if self.writes <= self.cleanup_size.max(MIN_CLEANUP_SIZE) {
            return;
        }
        self.by_key.retain(|_, state| {
            state.remove_completed_writes();
            !state.is_empty()
        });
        self.writes = self.by_key.values().map(|state| state.writes.len()).sum();
        self.cleanup_size = self.writes * 2;
        self.release_memory();
    }

    /// Releases the memory of a table that is mostly empty.
    fn release_memory(&mut self) {
        if self.by_key.capacity() > MIN_CLEANUP_SIZE.max(self.by_key.len() * 4) {
            self.by_key.shrink_to(self.by_key.len() * 2);
        }
    }
}

/// Returns whether the spans of reconciliations can be enabled: whether there is a subscriber.
fn is_enabled() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

#[cfg(test)]
mod tests {
    use std::{
        any::Any,
        future::pending,
        sync::atomic::{AtomicBool, Ordering},
    };

    use futures::future::BoxFuture;
    use tokio::time::Instant;
    use tracing_subscriber::Registry;

    use super::*;
    use crate::controller::gate::{AnyWriteGate, Write};

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

    /// Starts a reconciliation as the processor does. Without spans the trigger has no effect; the tests of other
    /// threads can enable them.
    fn start(states: &KeyStates, key: &ObjectKey) -> bool {
        states.take_trigger(key);
        states.start(key)
    }

    #[test]
    fn keys_that_write_nothing_use_no_memory() {
        let (states, key) = (KeyStates::default(), ObjectKey::cluster("a"));
        states.record_event(&key, &kind(), Change::Updated, Some("1"));
        assert!(!start(&states, &key));
        assert_eq!(states.end(&key), None);
        assert!(states.0.lock().by_key.is_empty());
    }

    #[test]
    fn a_key_whose_causes_converged_uses_no_memory() {
        let (states, key) = (KeyStates::default(), ObjectKey::cluster("a"));
        start(&states, &key);
        states.record_write(&key, &ResourceVersion::new("2"));
        assert_eq!(states.end(&key), None);
        states.record_event(&key, &kind(), Change::Updated, Some("2"));
        assert!(start(&states, &key), "only the write caused it");
        assert_eq!(states.end(&key), None);
        assert!(states.0.lock().by_key.is_empty());
    }

    #[test]
    fn a_deleted_slot_is_stored_until_a_later_reconciliation_is_done_or_the_key_is_discarded() {
        let (states, key, slot) = (KeyStates::default(), ObjectKey::cluster("a"), Slot::all().next().unwrap());
        for remove in [KeyStates::remove_deleted_slot, KeyStates::discard] {
            states.set_deleted_slot(&key, slot);
            assert_eq!(states.deleted_slot(&key), Some(slot));
            states.take_trigger(&key);
            remove(&states, &key);
            assert!(states.0.lock().by_key.is_empty());
        }
    }

    #[test]
    fn the_slot_of_an_object_that_is_deleted_during_a_reconciliation_is_stored_for_the_next_one() {
        let (states, key, slot) = (KeyStates::default(), ObjectKey::cluster("a"), Slot::all().next().unwrap());
        states.take_trigger(&key);
        states.set_deleted_slot(&key, slot);
        states.remove_deleted_slot(&key);
        assert_eq!(states.deleted_slot(&key), Some(slot));
        states.take_trigger(&key);
        states.remove_deleted_slot(&key);
        assert_eq!(states.deleted_slot(&key), None);
    }

    /// A gate that is caught up with all writes, or with none.
    #[derive(Default)]
    struct FakeGate(AtomicBool);

    impl AnyWriteGate for FakeGate {
        fn as_any(&self) -> &dyn Any {
            self
        }

        fn has_resource(&self, _: &str, _: &str) -> bool {
            true
        }

        fn record(&self, _: &Write) -> bool {
            true
        }

        fn is_caught_up(&self, _: &ObjectKey) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn wait<'a>(&'a self, _: &'a ObjectKey) -> BoxFuture<'a, ()> {
            Box::pin(pending())
        }
    }

    fn write(gate: &Arc<FakeGate>, object: &str, deadline: Option<Instant>) -> PendingWrite {
        let gate: Arc<dyn AnyWriteGate> = Arc::clone(gate) as _;
        PendingWrite::new(&gate, ObjectKey::cluster(object), deadline)
    }

    #[test]
    fn writes_that_the_caches_contain_are_removed() {
        let (states, gate) = (KeyStates::default(), Arc::<FakeGate>::default());
        for number in 0..3000 {
            states.add_write(&ObjectKey::cluster(&number.to_string()), write(&gate, "child", None));
        }
        let key = ObjectKey::cluster("0");
        states.add_write(&key, write(&gate, "child", None));
        states.add_write(&key, write(&gate, "other", None));
        assert_eq!(states.pending_writes(&key).len(), 2, "the last write to each object");
        states.discard(&key);
        assert_eq!((states.pending_writes(&key).len(), states.0.lock().writes), (2, 3001));
        gate.0.store(true, Ordering::Relaxed);
        assert_eq!(states.pending_writes(&key).len(), 0);
        assert_eq!(states.0.lock().writes, 2999);
        for number in 3000..7000 {
            states.add_write(&ObjectKey::cluster(&number.to_string()), write(&gate, "child", None));
        }
        let keys = states.0.lock().by_key.len();
        assert!(keys <= MIN_CLEANUP_SIZE, "{keys}");
    }

    #[tokio::test]
    async fn no_key_waits_longer_than_the_deadline_of_a_write() {
        let gate = Arc::<FakeGate>::default();
        let write = write(&gate, "child", Some(Instant::now()));
        assert!(write.is_completed());
        write.wait().await;
    }
}
