//! What can be chosen: of a queue, of one addition, of a drain.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use super::rate_limit::{RateLimiter, default_rate_limiter};
use crate::metrics::Metrics;

/// What a queue is like. [`Config::default`] is what [`WorkQueue::new`](super::WorkQueue::new) has.
pub struct Config<K> {
    /// The label `name` of its metrics; empty by default, as an unnamed queue of client-go.
    pub name: String,
    /// How long keys that failed wait; [`default_rate_limiter`] by default.
    pub rate_limiter: Box<dyn RateLimiter<K>>,
    /// Where it measures; nowhere by default. It is called while the queue is locked, so it must not call the queue.
    pub metrics: Option<Arc<dyn Metrics>>,
    /// What keeps keys of low priority from waiting for ever; [`Ageing::default`] by default, `None` for no such thing.
    pub ageing: Option<Ageing>,
    /// How many keys [`try_add`](super::WorkQueue::try_add) lets there be: waiting, delayed and at work; no limit by default.
    ///
    /// Other additions are always taken: a queue holds a key once, so those that name objects of an informer cannot be
    /// more than its store holds, and a change that is refused would be lost.
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

/// What keys get that others are taken before.
///
/// Once others were taken before a priority for `max_wait`, and until none of its keys waits, one of every `share` deliveries
/// goes to it. So the k-th key of that priority comes within `max_wait` and then k × `share` deliveries, times the number of
/// such priorities, however many keys of higher priority there are; and those get the rest, however many keys wait below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ageing {
    /// How long others may be taken before.
    pub max_wait: Duration,
    /// Of how many deliveries one is for those that waited; with 1 they go first.
    pub share: NonZeroU32,
}

impl Default for Ageing {
    /// After a minute, one of four.
    fn default() -> Self {
        Ageing { max_wait: Duration::from_secs(60), share: NonZeroU32::MIN.saturating_add(3) }
    }
}

/// How a key is added. [`AddOptions::default`] is now, at priority 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    /// After this long.
    pub after: Option<Duration>,
    /// As one whose work failed: after what the rate limiter says, or `after` where that is sooner.
    pub rate_limited: bool,
    /// Higher comes first. Informers' initial objects may have [`LOW_PRIORITY`].
    pub priority: i32,
}

/// The priority controller-runtime gives to what an informer lists at first, and lists again.
pub const LOW_PRIORITY: i32 = -100;

/// What becomes of the keys that are not due yet when a queue is drained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delayed {
    /// They are dropped, and reported.
    #[default]
    Drop,
    /// They are due now.
    Flush,
}

/// How a drain ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drained<K> {
    /// Keys that the queue dropped since it was shut down: those that were not due yet, and those whose work failed and
    /// cannot be tried again. In the order they were dropped.
    pub dropped: Vec<K>,
    /// Whether all other keys are worked on; not so if [`shut_down`](super::WorkQueue::shut_down) ended the drain.
    pub complete: bool,
}

/// Why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The queue holds as many keys as it may.
    #[error("the work queue is full: {capacity} keys wait or are at work; try again later")]
    Full {
        /// How many it may hold.
        capacity: NonZeroUsize,
    },
    /// The queue is shut down.
    #[error("the work queue is shut down")]
    ShutDown,
}
