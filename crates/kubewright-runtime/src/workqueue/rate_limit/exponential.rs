//! Exponential back-off per key.

use std::{hash::Hash, time::Duration};

use tokio::time::Instant;

use super::{RateLimiter, failures::Failures};

/// Delays a key by `base` after its first failure and twice as long after each further one, up to `max`. Never
/// overflows. Failures are counted per key.
#[derive(Debug)]
pub struct ExponentialBackoff<K> {
    base: Duration,
    max: Duration,
    failures: Failures<K>,
}

impl<K> ExponentialBackoff<K> {
    /// Creates a limiter with delays from `base` to `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        ExponentialBackoff { base, max, failures: Failures::default() }
    }
}

impl<K> Default for ExponentialBackoff<K> {
    /// Delays from 5 ms to 1000 s, as in client-go and controller-runtime.
    fn default() -> Self {
        Self::new(Duration::from_millis(5), Duration::from_secs(1000))
    }
}

impl<K: Clone + Eq + Hash + Send + Sync> RateLimiter<K> for ExponentialBackoff<K> {
    fn when(&self, key: &K, _now: Instant) -> Duration {
        let factor = 2u32.checked_pow(self.failures.add(key));
        factor.and_then(|factor| self.base.checked_mul(factor)).map_or(self.max, |delay| delay.min(self.max))
    }

    fn forget(&self, key: &K) {
        self.failures.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.failures.count(key)
    }
}
