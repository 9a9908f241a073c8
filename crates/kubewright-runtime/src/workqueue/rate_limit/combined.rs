//! Rate limiters that combine others.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Delays a key by the longest delay of its members. Every member is called for each failure and each reset.
pub struct MaxOf<K>(Vec<Box<dyn RateLimiter<K>>>);

impl<K> MaxOf<K> {
    /// Combines these limiters. Without any, keys are not delayed.
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
