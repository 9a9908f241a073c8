//! A bucket of tokens for all keys.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter as Governor};
use tokio::time::Instant;

use super::RateLimiter;

/// Past this the bucket owes so many tokens that more make no difference.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// It promises: of all keys together, so many are tried again each second, and so many at once after a pause. Each failure
/// takes a token; where there is none it waits for the next that nobody waits for yet. It counts no failures.
#[derive(Debug)]
pub struct TokenBucket {
    governor: Mutex<Governor<NotKeyed, InMemoryState, Handed, NoOpMiddleware<Duration>>>,
    /// The time of the first failure.
    epoch: OnceLock<Instant>,
}

/// A clock that tells what it was told, so that the bucket goes by the queue's time.
#[derive(Debug, Default)]
struct Handed(AtomicU64);

impl Clock for Handed {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl TokenBucket {
    /// So many a second, and so many at once.
    pub fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        let quota = Quota::per_second(per_second).allow_burst(burst);
        TokenBucket {
            governor: Mutex::new(Governor::direct_with_clock(quota, Handed::default())),
            epoch: OnceLock::new(),
        }
    }

    /// Takes a token, of the future if need be: governor refuses, so it is asked again as of when it would not.
    fn take(&self, now: Duration) -> Duration {
        let governor = self.governor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = now;
        while at.saturating_sub(now) < LONGEST {
            let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
            governor.clock().0.store(nanos, Ordering::Relaxed);
            match governor.check() {
                Ok(()) => return at - now,
                Err(refused) => at = refused.earliest_possible(),
            }
        }
        LONGEST
    }
}

impl<K> RateLimiter<K> for TokenBucket {
    fn when(&self, _key: &K, now: Instant) -> Duration {
        self.take(now.saturating_duration_since(*self.epoch.get_or_init(|| now)))
    }

    fn forget(&self, _key: &K) {}

    fn num_requeues(&self, _key: &K) -> u32 {
        0
    }
}
