//! Adds the keys of events, and of acquired slots, to the queue of a controller.

use std::sync::{Arc, Weak};

use super::{key_states::KeyStates, sharded::ShardedKeys, trigger::Change};
use crate::{
    object::{ApiObject, ObjectKey},
    sharding::{Sharding, SlotSet, StartHandler},
    store::Store,
    workqueue::{AddOptions, LOW_PRIORITY, WorkQueue},
};

/// Where the watches of a controller add keys.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) queue: WorkQueue<ObjectKey>,
    pub(super) states: Arc<KeyStates>,
    /// The keys of this replica; `None` if it processes all.
    pub(super) shard: Option<Arc<ShardedKeys>>,
}

impl Target {
    /// Adds the distinct keys of this replica to the queue. The version is that of an updated object that is reconciled
    /// itself.
    pub(super) fn add(
        &self,
        mut found: Vec<ObjectKey>,
        kind: &Arc<str>,
        change: Change,
        priority: i32,
        version: Option<&str>,
    ) {
        found.sort();
        found.dedup();
        let options = AddOptions { priority, ..AddOptions::default() };
        let Target { queue, states, shard } = self;
        let is_owned = |key: &ObjectKey| shard.as_ref().is_none_or(|shard| shard.is_owned(key));
        for key in found.into_iter().filter(is_owned) {
            states.record_event(&key, kind, change, version);
            queue.add_with(key, options);
        }
    }

    /// Records the deletion of a reconciled object, whose key has no slot afterwards, or the end of its caching.
    pub(super) fn object_deleted<K: ApiObject>(&self, object: &K) {
        let Some(shard) = &self.shard else { return };
        let key = ObjectKey::from_object(object);
        if !shard.object_deleted(&key, object.meta()) {
            self.states.remove_causes(&key);
        }
    }
}

/// Queues the keys of slots that this replica acquires.
struct AcquiredSlots<K> {
    store: Store<K>,
    kind: Arc<str>,
    target: Target,
    sharding: Sharding,
}

impl<K: ApiObject> StartHandler for AcquiredSlots<K> {
    fn slots_started(&self, slots: SlotSet) {
        let field = self.sharding.field();
        let objects = self.store.list();
        let objects = objects.iter().filter(|object| slots.contains(field.slot_of(object.meta())));
        let keys = objects.map(|object| ObjectKey::from_object(&**object)).collect();
        self.target.add(keys, &self.kind, Change::Initial, LOW_PRIORITY, None);
    }
}

/// Queues the keys of slots that this replica acquires, until the returned handler is dropped. `None` without sharding.
pub(super) fn queue_acquired<K: ApiObject>(store: Store<K>, target: &Target) -> Option<Arc<dyn StartHandler>> {
    let sharding = target.shard.as_ref()?.sharding.clone();
    let (kind, target) = (K::kind(&()).into(), target.clone());
    let handler: Arc<dyn StartHandler> = Arc::new(AcquiredSlots { store, kind, target, sharding: sharding.clone() });
    let weak: Weak<dyn StartHandler> = Arc::downgrade(&handler);
    sharding.ownership().add_start_handler(weak);
    Some(handler)
}
