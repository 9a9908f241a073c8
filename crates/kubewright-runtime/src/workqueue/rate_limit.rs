//! Rate limiters: the delay of a key that failed until it is retried.

mod combined;
mod exponential;
mod failures;
mod token_bucket;

use std::{hash::Hash, num::NonZeroU32, time::Duration};

use tokio::time::Instant;

pub use combined::MaxOf;
pub use exponential::ExponentialBackoff;
pub use token_bucket::TokenBucket;

/// Computes the delay of keys that failed.
///
/// Workers call it concurrently, without the lock of the queue.
pub trait RateLimiter<K>: Send + Sync {
    /// Counts a failure of this key at `now` and returns its delay.
    fn when(&self, key: &K, now: Instant) -> Duration;

    /// Resets the failures of this key. Must be cheap if there are none: it is called after each success.
    fn forget(&self, key: &K);

    /// Returns the number of failures of this key since it was last forgotten.
    fn num_requeues(&self, key: &K) -> u32;
}

impl<K, L: RateLimiter<K> + ?Sized> RateLimiter<K> for Box<L> {
    fn when(&self, key: &K, now: Instant) -> Duration {
        (**self).when(key, now)
    }

    fn forget(&self, key: &K) {
        (**self).forget(key);
    }

    fn num_requeues(&self, key: &K) -> u32 {
        (**self).num_requeues(key)
    }
}

/// Returns the default rate limiter of client-go's controllers: the longer of an exponential back-off per key from 5 ms
/// to 1000 s, and a token bucket for all keys of 10 retries per second with a burst of 100.
pub fn default_rate_limiter<K: Clone + Eq + Hash + Send + Sync + 'static>() -> MaxOf<K> {
    let bucket = TokenBucket::new(NonZeroU32::MIN.saturating_add(9), NonZeroU32::MIN.saturating_add(99));
    MaxOf::new([Box::new(ExponentialBackoff::default()) as Box<dyn RateLimiter<K>>, Box::new(bucket)])
}

#[cfg(test)]
mod tests;
