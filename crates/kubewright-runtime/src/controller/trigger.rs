//! Triggers: why keys are in the queue, for the spans of their reconciliations.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::Mutex;
use tracing::level_filters::LevelFilter;

use crate::object::ObjectKey;

/// The capacity that an empty table retains. Memory for more keys is released.
const RETAINED_CAPACITY: usize = 1024;

/// Why a key is reconciled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A change of an object of this kind: of the reconciled object itself, or of one that is mapped to it.
    Event(Arc<str>, Change),
    /// The last reconciliation failed.
    Retry,
    /// The last reconciliation returned `Action::Requeue`.
    Requeue,
    /// The last reconciliation returned `Action::RequeueAfter`.
    RequeueAfter,
    /// The key was added to the queue of the controller.
    #[default]
    Queue,
}

/// A change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It existed before the controller.
    Initial,
    Added,
    Updated,
    Deleted,
    /// It did not change.
    Resynced,
    /// Its mapping, which panicked, was retried.
    Remapped,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Event(kind, change) => write!(f, "{kind} {change}"),
            Trigger::Retry => f.write_str("retry"),
            Trigger::Requeue => f.write_str("requeue"),
            Trigger::RequeueAfter => f.write_str("requeue_after"),
            Trigger::Queue => f.write_str("queue"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::Initial => "initial",
            Change::Added => "added",
            Change::Updated => "updated",
            Change::Deleted => "deleted",
            Change::Resynced => "resynced",
            Change::Remapped => "remapped",
        })
    }
}

/// The triggers of the keys of a queue.
///
/// Guarantees:
/// - of several triggers of a key, the last event is recorded, and a requeue only without one;
/// - only keys that are in the queue use memory, and none do while spans are disabled.
#[derive(Default)]
pub(super) struct Triggers(Mutex<HashMap<ObjectKey, Trigger>>);

impl Triggers {
    /// Records an event for a key, before the key is added to the queue.
    pub(super) fn record_event(&self, key: &ObjectKey, kind: &Arc<str>, change: Change) {
        if is_enabled() {
            self.0.lock().insert(key.clone(), Trigger::Event(Arc::clone(kind), change));
        }
    }

    /// Records that a key is requeued, unless there was an event since the start of its reconciliation.
    pub(super) fn record_requeue(&self, key: &ObjectKey, trigger: Trigger) {
        if is_enabled() {
            self.0.lock().entry(key.clone()).or_insert(trigger);
        }
    }

    /// Removes the trigger of a key whose reconciliation starts.
    pub(super) fn take(&self, key: &ObjectKey) -> Trigger {
        let mut triggers = self.0.lock();
        let trigger = triggers.remove(key).unwrap_or_default();
        if triggers.is_empty() && triggers.capacity() > RETAINED_CAPACITY {
            *triggers = HashMap::new();
        }
        trigger
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
            let (triggers, key) = (Triggers::default(), ObjectKey::cluster("a"));
            triggers.record_event(&key, &kind(), Change::Added);
            triggers.record_event(&key, &kind(), Change::Updated);
            triggers.record_requeue(&key, Trigger::Retry);
            assert_eq!(triggers.take(&key).to_string(), "ConfigMap updated");
            triggers.record_requeue(&key, Trigger::RequeueAfter);
            assert_eq!(triggers.take(&key).to_string(), "requeue_after");
            assert_eq!(triggers.take(&key).to_string(), "queue");
        });
    }

    #[test]
    fn only_keys_in_the_queue_use_memory() {
        with_spans(|| {
            let triggers = Triggers::default();
            let keys: Vec<_> = (0..5000).map(|number| ObjectKey::cluster(&number.to_string())).collect();
            keys.iter().for_each(|key| triggers.record_event(key, &kind(), Change::Initial));
            assert_eq!(triggers.0.lock().len(), keys.len());
            keys.iter().for_each(|key| drop(triggers.take(key)));
            assert!(triggers.0.lock().capacity() <= RETAINED_CAPACITY, "{}", triggers.0.lock().capacity());
        });
    }
}
