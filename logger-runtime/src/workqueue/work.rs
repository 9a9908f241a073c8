//! A key with a worker.

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;

use super::WorkQueue;
use super::state::Taken;

/// A key at work. Dropping it, also by a panic or a cancelled task, tells the queue that the work is done; nothing else can.
pub struct Work<K: Clone + Eq + Hash> {
    queue: WorkQueue<K>,
    taken: Taken<K>,
}

impl<K: Clone + Eq + Hash> Work<K> {
    pub(super) fn new(queue: WorkQueue<K>, taken: Taken<K>) -> Self {
        Work { queue, taken }
    }

    /// The priority it waited with: hand it on when the key is added again, so that it keeps it.
    pub fn priority(&self) -> i32 {
        self.taken.priority
    }
}

impl<K: Clone + Eq + Hash> Deref for Work<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.taken.key
    }
}

impl<K: Clone + Eq + Hash + fmt::Display> fmt::Display for Work<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.taken.key.fmt(f)
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug> fmt::Debug for Work<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.taken.key).finish()
    }
}

impl<K: Clone + Eq + Hash> Drop for Work<K> {
    fn drop(&mut self) {
        // The queue's copy of the key is dropped here, without the lock.
        let _gone = self.queue.0.shell.act(None, |state, now| state.done(self.taken.number, now));
    }
}
