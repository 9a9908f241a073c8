//! A few fast retries, then slow ones.

use std::{hash::Hash, time::Duration};

use tokio::time::Instant;

use super::{RateLimiter, failures::Failures};

/// Delays a key by `fast` after each of its first `tries` failures, and by `slow` after further ones.
#[derive(Debug)]
pub struct FastSlow<K> {
    fast: Duration,
    slow: Duration,
    tries: u32,
    failures: Failures<K>,
}

impl<K> FastSlow<K> {
    /// Creates a limiter with `tries` fast delays per key.
    pub fn new(fast: Duration, slow: Duration, tries: u32) -> Self {
        FastSlow { fast, slow, tries, failures: Failures::default() }
    }
}

impl<K: Clone + Eq + Hash + Send + Sync> RateLimiter<K> for FastSlow<K> {
    fn when(&self, key: &K, _now: Instant) -> Duration {
        if self.failures.add(key) < self.tries { self.fast } else { self.slow }
    }

    fn forget(&self, key: &K) {
        self.failures.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.failures.count(key)
    }
}
