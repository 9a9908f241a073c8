//! Options of a queue, of an addition and of a drain.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use super::rate_limit::{RateLimiter, default_rate_limiter};
use crate::metrics::Metrics;

/// The options of a queue. [`WorkQueue::new`](super::WorkQueue::new) uses [`Config::default`].
pub struct Config<K> {
    /// The value of the label `name` of the queue's metrics; empty by default, like an unnamed queue of client-go.
    pub name: String,
    /// Computes the delay of keys that failed; [`default_rate_limiter`] by default.
    pub rate_limiter: Box<dyn RateLimiter<K>>,
    /// Where the metrics of the queue are collected; nowhere by default.
    pub metrics: Option<Metrics>,
    /// Prevents starvation of keys with low priority; [`Ageing::default`] by default. `None` disables ageing.
    pub ageing: Option<Ageing>,
    /// The maximum number of ready, delayed and processed keys up to which [`try_add`](super::WorkQueue::try_add)
    /// accepts a new key; unlimited by default.
    ///
    /// Other additions are always accepted: a queue stores a key once, so keys of an informer's objects cannot
    /// outnumber its store, and rejecting one would lose a change.
    pub capacity: Option<NonZeroUsize>,
}

impl<K: Clone + Eq + std::hash::Hash + Send + Sync + 'static> Default for Config<K> {
    fn default() -> Self {
        Config {
            name: String::new(),
            rate_limiter: Box::new(default_rate_limiter()),
            metrics: None,
            ageing: Some(Ageing::default()),
            capacity: None,
        }
    }
}

/// Guarantees deliveries to keys of lower priority.
///
/// A priority is starved once higher ones have been served before it for `max_wait`, until none of its keys is ready.
/// One of every `share` deliveries goes to a starved priority. So the k-th key of that priority is delivered within
/// `max_wait` and then k × `share` deliveries, times the number of starved priorities, no matter how many keys of
/// higher priority there are. Higher priorities get all other deliveries, no matter how many keys of lower priority are
/// ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ageing {
    /// How long higher priorities can be served before a priority counts as starved.
    pub max_wait: Duration,
    /// One of this many deliveries goes to a starved priority. With 1, starved priorities are served first.
    pub share: NonZeroU32,
}

impl Default for Ageing {
    /// After one minute, one of four deliveries.
    fn default() -> Self {
        Ageing { max_wait: Duration::from_secs(60), share: NonZeroU32::MIN.saturating_add(3) }
    }
}

/// How a key is added. [`AddOptions::default`] adds it now, with priority 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// The delay.
    pub after: Option<Duration>,
    /// Adds the key as one that failed: after the delay of the rate limiter, or after `after` if that is shorter.
    pub rate_limited: bool,
    /// The priority. Higher priorities are delivered first. Initial objects of informers can have [`LOW_PRIORITY`].
    pub priority: i32,
}

/// The priority that controller-runtime gives to objects of the initial list and of resyncs.
pub const LOW_PRIORITY: i32 = -100;

/// What a drain does with keys that are not due yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DelayedKeys {
    /// Drops and reports them.
    #[default]
    Drop,
    /// Makes them ready now.
    Flush,
}

/// The result of a drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainReport<K> {
    /// The keys dropped since the shutdown, in the order in which they were dropped: keys that were not due yet, and
    /// keys that failed and could not be retried.
    pub dropped: Vec<K>,
    /// Whether all other keys were processed; `false` if [`shut_down`](super::WorkQueue::shut_down) aborted the drain.
    pub complete: bool,
}

/// The reason why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The queue is at its capacity.
    #[error("the work queue is full: {capacity} keys are ready, delayed or being processed; try again later")]
    Full {
        /// The capacity.
        capacity: NonZeroUsize,
    },
    /// The queue is shut down.
    #[error("the work queue is shut down")]
    ShutDown,
}
