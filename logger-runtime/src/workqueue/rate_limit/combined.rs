//! Rate limiters made of others.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// It promises: a key waits as long as the most patient of its members says; all of them are asked, and all forget.
pub struct MaxOf<K>(Vec<Box<dyn RateLimiter<K>>>);

impl<K> MaxOf<K> {
    /// Of these. Without any, keys do not wait.
    pub fn new(members: impl IntoIterator<Item = Box<dyn RateLimiter<K>>>) -> Self {
        MaxOf(members.into_iter().collect())
    }
}

impl<K> RateLimiter<K> for MaxOf<K> {
    fn when(&self, key: &K, now: Instant) -> Duration {
        self.0.iter().map(|member| member.when(key, now)).max().unwrap_or_default()
    }

    fn forget(&self, key: &K) {
        self.0.iter().for_each(|member| member.forget(key));
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.0.iter().map(|member| member.num_requeues(key)).max().unwrap_or_default()
    }
}

/// It promises: a key waits as another rate limiter says, but not longer than this; failures are counted all the same.
#[derive(Clone, Debug)]
pub struct WithMaxWait<L> {
    limiter: L,
    max: Duration,
}

impl<L> WithMaxWait<L> {
    /// As `limiter` says, but `max` at most.
    pub fn new(limiter: L, max: Duration) -> Self {
        WithMaxWait { limiter, max }
    }
}

impl<K, L: RateLimiter<K>> RateLimiter<K> for WithMaxWait<L> {
    fn when(&self, key: &K, now: Instant) -> Duration {
        self.limiter.when(key, now).min(self.max)
    }

    fn forget(&self, key: &K) {
        self.limiter.forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        self.limiter.num_requeues(key)
    }
}
