//! A deduplicating work queue with priorities, delays and rate limits. No key is queued twice or processed
//! concurrently.

mod config;
mod item;
mod metrics;
mod monitor;
pub mod rate_limit;
mod state;
mod sync;
mod waiters;

use std::{
    fmt,
    hash::{BuildHasher, Hash},
    num::NonZeroUsize,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

pub use config::{AddError, AddOptions, Ageing, Config, DelayedKeys, DrainReport, LOW_PRIORITY};
pub use item::WorkItem;
pub use rate_limit::RateLimiter;

use crate::metrics::Refresh;
use metrics::QueueMetrics;
use monitor::Monitor;
use state::{Hashed, Request, State};

/// The upper limit of delays, which keeps the clock from overflowing.
const MAX_DELAY: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// A queue of keys between event handlers and workers. Clones are handles of the same queue.
///
/// Guarantees:
/// - a key is stored once, no matter how often it is added, now or with a delay: memory grows with keys, not with
///   events;
/// - a key is never processed concurrently;
/// - a key that is added while it is being processed is requeued once, when that processing is done;
/// - keys are delivered in the order of addition, higher priorities first, and no key starves ([`Ageing`]);
/// - delayed keys are delivered in the order of their due times; of several requests for one key the earliest wins, so
///   a request for now is not delayed by one for later;
/// - a key that failed is delayed by the rate limiter; events that make it fail again during the back-off do not
///   prolong it;
/// - after [`shut_down`](Self::shut_down) no key is added, ready keys are still delivered, then every worker gets
///   `None`;
/// - [`drain`](Self::drain) returns when all accepted keys are processed, and reports the dropped ones;
/// - adding a key never blocks, and the queue has no background task: dropping the last handle releases everything.
///
/// ```
/// # use kubewright_runtime::{ObjectKey, WorkQueue};
/// # async fn reconcile(key: &ObjectKey) -> Result<(), kubewright_runtime::Error> { Ok(()) }
/// async fn worker(queue: WorkQueue<ObjectKey>) {
///     while let Some(key) = queue.get().await {
///         match reconcile(&key).await {
///             Ok(()) => queue.forget(&key),
///             Err(_) => queue.add_rate_limited(key.clone()),
///         }
///     } // dropping the item marks the key as done
/// }
/// ```
pub struct WorkQueue<K>(Arc<Shared<K>>);

struct Shared<K> {
    monitor: Monitor<K>,
    hasher: DefaultHashBuilder,
    rate_limiter: Box<dyn RateLimiter<K>>,
    /// The number of keys in a back-off.
    backoffs: Arc<AtomicUsize>,
    capacity: Option<NonZeroUsize>,
}

impl<K> Clone for WorkQueue<K> {
    fn clone(&self) -> Self {
        WorkQueue(Arc::clone(&self.0))
    }
}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> Default for WorkQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> WorkQueue<K> {
    /// Creates an empty queue with the default options, which are those of client-go.
    pub fn new() -> Self {
        Self::with_config(Config::default())
    }

    /// Creates an empty queue.
    pub fn with_config(config: Config<K>) -> Self {
        let metrics = config.metrics.as_ref().map(|metrics| QueueMetrics::new(metrics, &config.name, Instant::now()));
        let state = State::new(config.ageing, metrics);
        let shared = Arc::new(Shared {
            backoffs: state.backoffs(),
            monitor: Monitor::new(state),
            hasher: DefaultHashBuilder::default(),
            rate_limiter: config.rate_limiter,
            capacity: config.capacity,
        });
        if let Some(metrics) = config.metrics {
            let refresh: Weak<Shared<K>> = Arc::downgrade(&shared);
            metrics.register_refresh(refresh);
        }
        WorkQueue(shared)
    }
}

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// Adds a key, to be processed as soon as a worker is free.
    pub fn add(&self, key: K) {
        let request = Request { at: None, priority: 0, is_retry: false };
        let key = self.hashed(key);
        drop(self.0.monitor.update(None, |state, now| state.add(key, request, now)));
    }

    /// Adds a key after a delay.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.add_with(key, AddOptions { after: Some(delay), ..AddOptions::default() });
    }

    /// Adds a key at a time; a past time adds it now.
    pub fn add_at(&self, key: K, at: Instant) {
        let request = Request { at: Some(at), priority: 0, is_retry: true };
        let key = self.hashed(key);
        drop(self.0.monitor.update(Some(Instant::now()), |state, now| state.add(key, request, now)));
    }

    /// Adds a key that failed, after the delay of the rate limiter.
    ///
    /// The failure is counted, unless an event caused the key to be processed during the back-off of a counted failure:
    /// then the key is requeued at the end of that back-off. So a key that fails at each of many events is not delayed
    /// longer than one that fails at its retries.
    pub fn add_rate_limited(&self, key: K) {
        self.add_with(key, AddOptions { rate_limited: true, ..AddOptions::default() });
    }

    /// Adds a key with options.
    pub fn add_with(&self, key: K, options: AddOptions) {
        let AddOptions { after, rate_limited, priority } = options;
        let key = self.hashed(key);
        if rate_limited {
            return self.add_after_failure(key, after, priority);
        }
        let now = after.map(|_| Instant::now());
        let at = now.zip(after).map(|(now, after)| later(now, after));
        let request = Request { at, priority, is_retry: after.is_some() };
        drop(self.0.monitor.update(now, |state, now| state.add(key, request, now)));
    }

    /// Adds a key from an unbounded source, such as a request, if the capacity allows it.
    ///
    /// # Errors
    /// Fails if the queue is shut down, or the key is new and the queue is at its [capacity](Config::capacity).
    pub fn try_add(&self, key: K) -> Result<(), AddError> {
        let request = Request { at: None, priority: 0, is_retry: false };
        let key = self.hashed(key);
        let added = self.0.monitor.update(None, |state, now| {
            state.check_capacity(&key, self.0.capacity)?;
            Ok(state.add(key, request, now))
        });
        added.map(drop)
    }

    /// Resets the failures of a key. Call it when the key was processed successfully, or will not be retried.
    pub fn forget(&self, key: &K) {
        self.0.rate_limiter.forget(key);
        if self.0.backoffs.load(Ordering::Relaxed) > 0 {
            let hash = self.0.hasher.hash_one(key);
            self.0.monitor.update(None, |state, _| state.forget(hash, key));
        }
    }

    /// Returns the number of counted failures of a key since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.0.rate_limiter.num_requeues(key)
    }

    /// Waits for the next key; `None` if the queue is shut down and no key is ready or will be requeued.
    ///
    /// Dropping the returned item marks the key as done. This method is cancel-safe.
    pub async fn get(&self) -> Option<WorkItem<K>> {
        let dequeued = self.0.monitor.get().await?;
        Some(WorkItem::new(self.clone(), dequeued))
    }

    /// Returns the number of ready keys. Delayed keys and keys being processed are not counted.
    pub fn len(&self) -> usize {
        self.0.monitor.update(None, State::len)
    }

    /// Returns whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the queue is shut down.
    pub fn is_shut_down(&self) -> bool {
        self.0.monitor.update(None, |state, _| state.is_shut_down())
    }

    /// Shuts the queue down: it accepts no more keys and drops the delayed ones. Workers get the ready keys and then
    /// `None`. All drains end, even if keys are left. Idempotent.
    pub fn shut_down(&self) {
        self.0.monitor.update(Some(Instant::now()), |state, now| state.shut_down(DelayedKeys::Drop, now));
        self.0.monitor.abort_drains();
    }

    /// Shuts the queue down and waits until workers have processed all its keys. A worker must be running.
    ///
    /// Keys that are not due yet are dropped and reported, or made ready now. A key that fails meanwhile cannot be
    /// retried and is reported, too. Drains can run concurrently and can be cancelled: the queue stays shut down.
    pub async fn drain(&self, delayed: DelayedKeys) -> DrainReport<K> {
        self.0.monitor.drain(delayed).await
    }

    fn hashed(&self, key: K) -> Hashed<K> {
        Hashed { hash: self.0.hasher.hash_one(&key), key }
    }

    /// Calls the rate limiter without the lock. This does not race: the key is being processed by one worker.
    fn add_after_failure(&self, key: Hashed<K>, after: Option<Duration>, priority: i32) {
        let now = Instant::now();
        let monitor = &self.0.monitor;
        let earliest = |at: Instant| after.map_or(at, |after| at.min(later(now, after)));
        let request = |at| Request { at: Some(earliest(at)), priority, is_retry: true };
        match monitor.update(Some(now), |state, now| state.active_backoff(key.hash, &key.key, now)) {
            Some(until) => drop(monitor.update(Some(now), |state, now| state.add(key, request(until), now))),
            None => {
                let until = later(now, self.0.rate_limiter.when(&key.key, now));
                monitor.update(Some(now), |state, now| state.add_with_backoff(key, until, request(until), now));
            }
        }
    }
}

impl<K: Clone + Eq + Hash + Send> Refresh for Shared<K> {
    fn refresh(&self) {
        self.monitor.update(None, |state, now| state.refresh_metrics(now, true));
    }
}

/// Adds a delay to a time without overflow.
fn later(now: Instant, delay: Duration) -> Instant {
    now.checked_add(delay.min(MAX_DELAY)).unwrap_or(now)
}

impl<K> fmt::Debug for WorkQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue").field("capacity", &self.0.capacity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod model;
