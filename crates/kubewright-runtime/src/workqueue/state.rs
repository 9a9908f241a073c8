//! The synchronous state machine of the queue, without locks or clocks. A key is ready, delayed or being processed.

mod entries;
mod ready;
mod transitions;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::time::Instant;

use super::{
    config::{AddError, Ageing, DelayedKeys},
    metrics::QueueMetrics,
};
pub(super) use entries::Hashed;
use entries::{Due, Entries, Fifo, Phase};
use ready::Ready;

/// Every step first makes the keys ready that are due at `now`, so that a key becomes ready when it is due and not when
/// a worker requests the next one.
pub(super) struct State<K> {
    entries: Entries<K>,
    ready: Ready,
    /// Delayed keys, by due time and then by order of request.
    delayed: BTreeMap<Due, usize>,
    requests: u64,
    /// In the order in which processing started.
    processing: Fifo,
    /// The number of keys being processed that are requeued when done.
    requeues: usize,
    /// The number of keys in a back-off. Read without the lock to skip the common case of none.
    backoffs: Arc<AtomicUsize>,
    shut_down: bool,
    dropped: Vec<K>,
    metrics: Option<QueueMetrics>,
}

/// A request to deliver a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// `None` for now.
    pub(super) at: Option<Instant>,
    pub(super) priority: i32,
    /// Whether the key is added with a delay or after a failure, which client-go counts as a retry.
    pub(super) is_retry: bool,
}

/// A key handed to a worker.
#[derive(Debug)]
pub(super) struct Dequeued<K> {
    pub(super) slot: usize,
    pub(super) key: K,
    pub(super) priority: i32,
}

impl<K: Clone + Eq> State<K> {
    pub(super) fn new(ageing: Option<Ageing>, metrics: Option<QueueMetrics>) -> Self {
        State {
            entries: Entries::default(),
            ready: Ready::new(ageing),
            delayed: BTreeMap::new(),
            requests: 0,
            processing: Fifo::default(),
            requeues: 0,
            backoffs: Arc::default(),
            shut_down: false,
            dropped: Vec::new(),
            metrics,
        }
    }

    /// Returns whether the next step depends on the current time.
    pub(super) fn needs_clock(&self) -> bool {
        !self.delayed.is_empty() || self.ready.needs_clock() || self.metrics.is_some()
    }

    /// Requests a delivery. Of several requests for one key the earliest time and the highest priority win. Returns the
    /// key if it is already stored, so that the caller drops it without the lock.
    pub(super) fn add(&mut self, key: Hashed<K>, request: Request, now: Instant) -> Option<K> {
        self.promote_due(now);
        if self.shut_down {
            self.reject(&key, request);
            return Some(key.key);
        }
        let (slot, duplicate) = match self.entries.find(key.hash, &key.key) {
            Some(slot) => {
                self.raise_priority(slot, request.priority);
                (slot, Some(key.key))
            }
            None => (self.insert(key, request.priority, now), None),
        };
        match request.at.filter(|at| *at > now) {
            Some(at) => self.delay(slot, at),
            None => self.make_ready(slot, now),
        }
        if request.is_retry {
            self.record(|metrics| metrics.retry());
        }
        duplicate
    }

    /// Adds a failed key like [`add`](Self::add) and starts its back-off: failures before `until` are not counted.
    pub(super) fn add_with_backoff(&mut self, key: Hashed<K>, until: Instant, request: Request, now: Instant) {
        let (hash, copy) = (key.hash, key.key.clone());
        drop(self.add(key, request, now));
        if let Some(slot) = self.entries.find(hash, &copy)
            && self.entries[slot].backoff_until.replace(until).is_none()
        {
            self.backoffs.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the end of the back-off that this key, which is being processed, is still in: a failure now is not
    /// counted.
    pub(super) fn active_backoff(&self, hash: u64, key: &K, now: Instant) -> Option<Instant> {
        let entry = &self.entries[self.entries.find(hash, key)?];
        entry.backoff_until.filter(|until| entry.phase == Phase::Processing && *until > now)
    }

    /// Ends the back-off of a key, so that its next failure is counted.
    pub(super) fn forget(&mut self, hash: u64, key: &K) {
        if let Some(slot) = self.entries.find(hash, key)
            && self.entries[slot].backoff_until.take().is_some()
        {
            self.backoffs.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns the shared number of keys in a back-off.
    pub(super) fn backoffs(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.backoffs)
    }

    /// Hands out the next ready key.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Dequeued<K>> {
        self.promote_due(now);
        let slot = self.ready.pop(&mut self.entries, now)?;
        self.processing.push(&mut self.entries, slot);
        let entry = &mut self.entries[slot];
        (entry.phase, entry.started) = (Phase::Processing, now);
        let (key, priority) = (entry.key.clone(), entry.priority);
        let queued = now.saturating_duration_since(entry.accepted);
        self.record(|metrics| metrics.get(queued, now));
        self.refresh_metrics(now, false);
        Some(Dequeued { slot, key, priority })
    }

    /// Marks a popped key as done. Returns the key if it leaves the queue, so that the caller drops it without the
    /// lock.
    pub(super) fn done(&mut self, slot: usize, now: Instant) -> Option<K> {
        self.promote_due(now);
        self.processing.remove(&mut self.entries, slot);
        let entry = &mut self.entries[slot];
        entry.retry_rejected = false;
        let (started, processed) = (entry.started, entry.processing_time(now));
        let requeue = std::mem::take(&mut entry.requeue);
        let removed = if requeue {
            self.requeues -= 1;
            self.enqueue(slot);
            None
        } else if entry.due.is_some() {
            entry.phase = Phase::Delayed;
            None
        } else {
            Some(self.remove(slot))
        };
        self.record(|metrics| metrics.done(started, processed));
        self.refresh_metrics(now, false);
        removed
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }

    /// Returns the number of ready keys at `now`.
    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.promote_due(now);
        self.ready.len()
    }

    /// Checks whether this key can be added within the capacity.
    pub(super) fn check_capacity(&self, key: &Hashed<K>, capacity: Option<NonZeroUsize>) -> Result<(), AddError> {
        let is_full = |capacity: &NonZeroUsize| self.entries.len() >= capacity.get();
        match capacity.filter(is_full) {
            _ if self.shut_down => Err(AddError::ShutDown),
            Some(capacity) if self.entries.find(key.hash, &key.key).is_none() => Err(AddError::Full { capacity }),
            _ => Ok(()),
        }
    }

    /// Returns the number of ready keys as of the last step.
    pub(super) fn ready_len(&self) -> usize {
        self.ready.len()
    }

    /// Stops accepting keys, and drops or flushes the delayed ones.
    pub(super) fn shut_down(&mut self, delayed: DelayedKeys, now: Instant) {
        self.promote_due(now);
        self.shut_down = true;
        for (_, slot) in std::mem::take(&mut self.delayed) {
            let entry = &mut self.entries[slot];
            entry.due = None;
            match delayed {
                DelayedKeys::Flush => self.make_ready(slot, now),
                DelayedKeys::Drop if entry.phase == Phase::Processing => {
                    entry.retry_rejected = true;
                    self.dropped.push(entry.key.clone());
                }
                DelayedKeys::Drop => {
                    let key = self.remove(slot);
                    self.dropped.push(key);
                }
            }
        }
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Returns whether the queue is shut down and no key is ready or will be requeued.
    pub(super) fn is_exhausted(&self) -> bool {
        self.shut_down && self.ready.len() == 0 && self.requeues == 0
    }

    /// Returns whether the queue is exhausted and no key is being processed.
    pub(super) fn is_drained(&self) -> bool {
        self.shut_down && self.entries.len() == 0
    }

    /// Returns the keys dropped since the shutdown.
    pub(super) fn dropped(&self) -> &[K] {
        &self.dropped
    }

    /// Updates the metrics of unfinished work, at most once per half second unless `force` is set.
    pub(super) fn refresh_metrics(&mut self, now: Instant, force: bool) {
        if let Some(metrics) = &mut self.metrics
            && !self.shut_down
        {
            let longest = self.processing.first().map(|slot| self.entries[slot].processing_time(now));
            metrics.update_unfinished_work(now, force, longest.unwrap_or_default());
        }
    }
}
