//! A token bucket that all keys share.

use std::{
    num::NonZeroU32,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota, RateLimiter as Governor,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::RateLimiter;

/// The longest delay. The bucket owes so many tokens then that more make no difference.
const MAX_DELAY: Duration = Duration::from_secs(365 * 24 * 3600);

/// Limits the retries of all keys together to a rate and a burst. Each failure takes a token; if there is none, it
/// waits for the next token that is not reserved. Failures are not counted.
#[derive(Debug)]
pub struct TokenBucket {
    governor: Mutex<Governor<NotKeyed, InMemoryState, ManualClock, NoOpMiddleware<Duration>>>,
    /// The time of the first failure.
    epoch: OnceLock<Instant>,
}

/// A clock that is set by hand, so that the bucket uses the time of the queue.
#[derive(Debug, Default)]
struct ManualClock(AtomicU64);

impl Clock for ManualClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl TokenBucket {
    /// Creates a bucket with a rate per second and a burst.
    pub fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        let quota = Quota::per_second(per_second).allow_burst(burst);
        TokenBucket {
            governor: Mutex::new(Governor::direct_with_clock(quota, ManualClock::default())),
            epoch: OnceLock::new(),
        }
    }

    /// Takes a token, if need be a future one: governor rejects it, so this repeats the request as of when it would
    /// not.
    fn reserve(&self, now: Duration) -> Duration {
        let governor = self.governor.lock();
        let mut at = now;
        while at.saturating_sub(now) < MAX_DELAY {
            let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
            governor.clock().0.store(nanos, Ordering::Relaxed);
            match governor.check() {
                Ok(()) => return at - now,
                Err(rejected) => at = rejected.earliest_possible(),
            }
        }
        MAX_DELAY
    }
}

impl<K> RateLimiter<K> for TokenBucket {
    fn when(&self, _key: &K, now: Instant) -> Duration {
        self.reserve(now.saturating_duration_since(*self.epoch.get_or_init(|| now)))
    }

    fn forget(&self, _key: &K) {}

    fn num_requeues(&self, _key: &K) -> u32 {
        0
    }
}
