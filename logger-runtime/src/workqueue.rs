//! The work queue: keys to be worked on, each at most once in it and at most once at work.

mod rate_limit;
mod state;

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use rate_limit::ExponentialBackoff;
use state::State;

/// A queue of keys between event handlers and workers. Cloning gives another handle on the same queue.
///
/// It promises:
/// - a key that waits is there once, however often it is added: memory grows with keys, not with events;
/// - a key is never at work twice at the same time;
/// - a key that is added while it is at work comes once more, after that work is done;
/// - keys come in the order they were added; a key that is due later comes when it is due, earliest request first;
/// - a key that is added now is not kept waiting by an earlier, later request;
/// - after [`shut_down`](Self::shut_down) nothing is added, what waits is still given out, then every worker gets `None`.
pub struct WorkQueue<K>(Arc<Shared<K>>);

struct Shared<K> {
    state: Mutex<State<K>>,
    backoff: Mutex<ExponentialBackoff<K>>,
    changed: Notify,
}

impl<K> Clone for WorkQueue<K> {
    fn clone(&self) -> Self {
        WorkQueue(Arc::clone(&self.0))
    }
}

impl<K: Clone + Eq + Hash> Default for WorkQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// An empty queue.
    pub fn new() -> Self {
        WorkQueue(Arc::new(Shared {
            state: Mutex::new(State::default()),
            backoff: Mutex::new(ExponentialBackoff::default()),
            changed: Notify::new(),
        }))
    }

    /// Adds a key, to be worked on as soon as a worker is free.
    pub fn add(&self, key: K) {
        self.state().add(key, Instant::now());
        self.0.changed.notify_waiters();
    }

    /// Adds a key after a delay. Of several requests the earliest counts.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.state().add_at(key, Instant::now(), delay);
        self.0.changed.notify_waiters();
    }

    /// Adds a key whose work failed: after 5 ms the first time, then twice as long each time, 1000 s at most.
    pub fn add_rate_limited(&self, key: K) {
        let delay = self.backoff().next(&key);
        self.add_after(key, delay);
    }

    /// Forgets the failures of a key, so that the next one starts from 5 ms again. Call it when the work succeeded.
    pub fn forget(&self, key: &K) {
        self.backoff().forget(key);
    }

    /// How often a key failed since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.backoff().failures(key)
    }

    /// The next key, once there is one; `None` when the queue is shut down and empty. The work is done when the
    /// returned guard is dropped. Cancelling the wait loses nothing.
    pub async fn get(&self) -> Option<Work<K>> {
        loop {
            let changed = self.0.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // Registered before looking, so that an add in between wakes it.
            changed.as_mut().enable();
            let due = {
                let mut state = self.state();
                if let Some(key) = state.pop(Instant::now()) {
                    return Some(Work { queue: self.clone(), key });
                }
                if state.is_over() {
                    return None;
                }
                state.next_due()
            };
            match due {
                Some(due) => tokio::select! { () = changed => {}, () = sleep_until(due) => {} },
                None => changed.await,
            }
        }
    }

    /// How many keys wait to be worked on now; those due later do not count.
    pub fn len(&self) -> usize {
        self.state().len(Instant::now())
    }

    /// Whether no key waits to be worked on now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes no more keys and drops those due later; workers get what waits and then `None`. May be called twice.
    pub fn shut_down(&self) {
        self.state().shut_down(Instant::now());
        self.0.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn backoff(&self) -> MutexGuard<'_, ExponentialBackoff<K>> {
        self.0.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key at work. Dropping it, also by a panic or a cancelled task, tells the queue that the work is done.
pub struct Work<K: Clone + Eq + Hash> {
    queue: WorkQueue<K>,
    key: K,
}

impl<K: Clone + Eq + Hash> Deref for Work<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K: Clone + Eq + Hash + fmt::Display> fmt::Display for Work<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug> fmt::Debug for Work<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.key).finish()
    }
}

impl<K: Clone + Eq + Hash> Drop for Work<K> {
    fn drop(&mut self) {
        self.queue.state().done(&self.key, Instant::now());
        self.queue.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
