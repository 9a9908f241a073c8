//! A key handed to a worker.

use std::{fmt, hash::Hash, ops::Deref};

use super::{WorkQueue, state::Dequeued};

/// A key that is being processed. Dropping it marks the key as done, also in a panic or a cancelled task.
pub struct WorkItem<K: Clone + Eq + Hash> {
    queue: WorkQueue<K>,
    dequeued: Dequeued<K>,
}

impl<K: Clone + Eq + Hash> WorkItem<K> {
    pub(super) fn new(queue: WorkQueue<K>, dequeued: Dequeued<K>) -> Self {
        WorkItem { queue, dequeued }
    }

    /// Returns the priority of the key. Pass it on when the key is added again to preserve it.
    pub fn priority(&self) -> i32 {
        self.dequeued.priority
    }
}

impl<K: Clone + Eq + Hash> Deref for WorkItem<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.dequeued.key
    }
}

impl<K: Clone + Eq + Hash + fmt::Display> fmt::Display for WorkItem<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dequeued.key.fmt(f)
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug> fmt::Debug for WorkItem<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkItem").field(&self.dequeued.key).finish()
    }
}

impl<K: Clone + Eq + Hash> Drop for WorkItem<K> {
    fn drop(&mut self) {
        // The queue's copy of the key is dropped after the lock is released.
        let _removed = self.queue.0.monitor.update(None, |state, now| state.done(self.dequeued.slot, now));
    }
}
