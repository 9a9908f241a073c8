//! The work queue: keys to be worked on, each at most once in it and at most once at work.

mod config;
mod meter;
pub mod rate_limit;
mod shell;
mod sleepers;
mod state;
mod sync;
mod work;

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

pub use config::{AddOptions, Ageing, Config, Delayed, Drained, LOW_PRIORITY, Refused};
pub use rate_limit::RateLimiter;
pub use work::Work;

use crate::metrics::Refresh;
use meter::Meter;
use shell::Shell;
use state::{Hashed, Request, State};

/// A delay past this cannot be told apart from for ever, and would overflow the clock.
const LONGEST_DELAY: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// A queue of keys between event handlers and workers. Cloning gives another handle on the same queue.
///
/// It promises:
/// - a key is there once, however often it is added, now or later: memory grows with keys, not with events;
/// - a key is never at work twice at the same time;
/// - a key that is added while it is at work comes once more, after that work is done;
/// - keys come in the order they were added, those of higher priority first, and none waits for ever ([`Ageing`]);
/// - a key that is due later comes when it is due, those due first first; of several requests for one key the earliest counts,
///   and a request for now is not kept waiting by one for later;
/// - a key that failed waits as the rate limiter says; events that make it fail again meanwhile do not make it wait longer;
/// - after [`shut_down`](Self::shut_down) nothing is added, what waits is still given out, then every worker gets `None`;
/// - [`drain`](Self::drain) returns when all that was taken is worked on, and tells what was dropped;
/// - adding never waits, and there is no task behind it: when the last handle is gone, nothing is left.
///
/// ```
/// # use logger_runtime::{ObjectKey, WorkQueue};
/// # async fn reconcile(key: &ObjectKey) -> Result<(), logger_runtime::Error> { Ok(()) }
/// async fn work(queue: WorkQueue<ObjectKey>) {
///     while let Some(key) = queue.get().await {
///         match reconcile(&key).await {
///             Ok(()) => queue.forget(&key),
///             Err(_) => queue.add_rate_limited(key.clone()),
///         }
///     } // here the guard is dropped, and the work on this key is done
/// }
/// ```
pub struct WorkQueue<K>(Arc<Shared<K>>);

struct Shared<K> {
    shell: Shell<K>,
    hasher: DefaultHashBuilder,
    rate_limiter: Box<dyn RateLimiter<K>>,
    /// How many keys are in a back-off.
    backing_off: Arc<AtomicUsize>,
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
    /// An empty queue, with what client-go has by default.
    pub fn new() -> Self {
        Self::with_config(Config::default())
    }

    /// An empty queue.
    pub fn with_config(config: Config<K>) -> Self {
        let meter = config.metrics.as_ref().map(|metrics| Meter::new(&**metrics, &config.name, Instant::now()));
        let state = State::new(config.ageing, meter);
        let shared = Arc::new(Shared {
            backing_off: state.backing_off(),
            shell: Shell::new(state),
            hasher: DefaultHashBuilder::default(),
            rate_limiter: config.rate_limiter,
            capacity: config.capacity,
        });
        if let Some(metrics) = config.metrics {
            let ages: Weak<Shared<K>> = Arc::downgrade(&shared);
            metrics.refresh_with(ages);
        }
        WorkQueue(shared)
    }
}

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// Adds a key, to be worked on as soon as a worker is free.
    pub fn add(&self, key: K) {
        let request = Request { at: None, priority: 0, is_retry: false };
        let key = self.hashed(key);
        drop(self.0.shell.act(None, |state, now| state.add(key, request, now)));
    }

    /// Adds a key after a delay.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.add_with(key, AddOptions { after: Some(delay), ..AddOptions::default() });
    }

    /// Adds a key for a time; one that is past is now.
    pub fn add_at(&self, key: K, at: Instant) {
        let request = Request { at: Some(at), priority: 0, is_retry: true };
        let key = self.hashed(key);
        drop(self.0.shell.act(Some(Instant::now()), |state, now| state.add(key, request, now)));
    }

    /// Adds a key whose work failed, after what the rate limiter says.
    ///
    /// The failure counts, unless the key is at work because of an event, before a back-off that counted is over: then it
    /// comes when that is. So a key that fails on each of many events waits no longer than one that fails when tried again.
    pub fn add_rate_limited(&self, key: K) {
        self.add_with(key, AddOptions { rate_limited: true, ..AddOptions::default() });
    }

    /// Adds a key, with all there is to choose.
    pub fn add_with(&self, key: K, options: AddOptions) {
        let AddOptions { after, rate_limited, priority } = options;
        let key = self.hashed(key);
        if rate_limited {
            return self.retry(key, after, priority);
        }
        let now = after.map(|_| Instant::now());
        let at = now.zip(after).map(|(now, after)| later(now, after));
        let request = Request { at, priority, is_retry: after.is_some() };
        drop(self.0.shell.act(now, |state, now| state.add(key, request, now)));
    }

    /// Adds many keys at once, which is cheaper than one after the other. The rate limiter is asked for each.
    pub fn add_all(&self, keys: impl IntoIterator<Item = K>, options: AddOptions) {
        if options.rate_limited {
            return keys.into_iter().for_each(|key| self.add_with(key, options));
        }
        let keys: Vec<Hashed<K>> = keys.into_iter().map(|key| self.hashed(key)).collect();
        let now = options.after.map(|_| Instant::now());
        let at = now.zip(options.after).map(|(now, after)| later(now, after));
        let request = Request { at, priority: options.priority, is_retry: options.after.is_some() };
        let add = |state: &mut State<K>, now| keys.into_iter().filter_map(|key| state.add(key, request, now)).collect();
        drop::<Vec<K>>(self.0.shell.act(now, add));
    }

    /// Adds a key that came from outside, such as by a request, and of which there could be any number.
    ///
    /// # Errors
    /// If the queue is shut down, or the key is not there and the queue holds as many as its configuration allows.
    pub fn try_add(&self, key: K) -> Result<(), Refused> {
        let request = Request { at: None, priority: 0, is_retry: false };
        let key = self.hashed(key);
        let added = self.0.shell.act(None, |state, now| {
            state.admit(&key, self.0.capacity)?;
            Ok(state.add(key, request, now))
        });
        added.map(drop)
    }

    /// Forgets the failures of a key, so that the next one is its first. Call it when the work succeeded, and when it failed
    /// for good.
    pub fn forget(&self, key: &K) {
        self.0.rate_limiter.forget(key);
        if self.0.backing_off.load(Ordering::Relaxed) > 0 {
            let hash = self.0.hasher.hash_one(key);
            self.0.shell.act(None, |state, _| state.forget(hash, key));
        }
    }

    /// How often a key failed since it was last forgotten, as far as its failures count.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.0.rate_limiter.num_requeues(key)
    }

    /// The next key, once there is one; `None` when the queue is shut down and no key is left that waits or will.
    /// The work is done when the returned guard is dropped. Cancelling the wait loses nothing.
    pub async fn get(&self) -> Option<Work<K>> {
        let taken = self.0.shell.get().await?;
        Some(Work::new(self.clone(), taken))
    }

    /// How many keys wait to be worked on now; those due later and those at work do not count.
    pub fn len(&self) -> usize {
        self.0.shell.act(None, State::len)
    }

    /// Whether no key waits to be worked on now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it takes no more keys.
    pub fn is_shut_down(&self) -> bool {
        self.0.shell.act(None, |state, _| state.is_shut_down())
    }

    /// Takes no more keys and drops those due later; workers get what waits and then `None`. Ends all drains, also if not
    /// all is done. May be called more than once.
    pub fn shut_down(&self) {
        self.0.shell.act(Some(Instant::now()), |state, now| state.shut_down(Delayed::Drop, now));
        self.0.shell.end_drains();
    }

    /// Takes no more keys, and waits until workers have worked on all that it holds; a worker must be running.
    ///
    /// What is not due yet is dropped and reported, or due now. Work that fails meanwhile cannot be tried again; it is
    /// reported, too. May be called more than once, also at the same time, and cancelled: the queue stays shut down.
    pub async fn drain(&self, delayed: Delayed) -> Drained<K> {
        self.0.shell.drain(delayed).await
    }

    /// Tells the metrics how long keys are at work so far. The queue does so itself when keys come and go, each half second
    /// at most, and before it is read where the metrics system tells when ([`Metrics::refresh_with`]); this is for others.
    ///
    /// [`Metrics::refresh_with`]: crate::metrics::Metrics::refresh_with
    pub fn refresh_metrics(&self) {
        self.0.shell.act(None, |state, now| state.refresh(now, true));
    }

    fn hashed(&self, key: K) -> Hashed<K> {
        Hashed { hash: self.0.hasher.hash_one(&key), key }
    }

    /// The limiter is asked without the lock: it is the user's, and the key is at work, so nobody else asks for it.
    fn retry(&self, key: Hashed<K>, after: Option<Duration>, priority: i32) {
        let now = Instant::now();
        let shell = &self.0.shell;
        let soonest = |at: Instant| after.map_or(at, |after| at.min(later(now, after)));
        let request = |at| Request { at: Some(soonest(at)), priority, is_retry: true };
        match shell.act(Some(now), |state, now| state.uncounted_until(key.hash, &key.key, now)) {
            Some(until) => drop(shell.act(Some(now), |state, now| state.add(key, request(until), now))),
            None => {
                let until = later(now, self.0.rate_limiter.when(&key.key, now));
                shell.act(Some(now), |state, now| state.back_off(key, until, request(until), now));
            }
        }
    }
}

impl<K: Clone + Eq + Hash + Send> Refresh for Shared<K> {
    fn refresh(&self) {
        self.shell.act(None, |state, now| state.refresh(now, true));
    }
}

/// As far as the clock goes.
fn later(now: Instant, delay: Duration) -> Instant {
    now.checked_add(delay.min(LONGEST_DELAY)).unwrap_or(now)
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
