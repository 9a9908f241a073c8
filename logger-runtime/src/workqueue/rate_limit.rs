//! How long a key that failed waits until it is tried again.

mod bucket;
mod combined;
mod exponential;
mod failures;
mod fast_slow;

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

pub use bucket::TokenBucket;
pub use combined::{MaxOf, WithMaxWait};
pub use exponential::ExponentialBackoff;
pub use fast_slow::FastSlow;

/// Says how long a key that failed waits.
///
/// It is asked while the queue is not locked, by many workers at once.
pub trait RateLimiter<K>: Send + Sync {
    /// Notes a failure of this key now, and tells how long it waits.
    fn when(&self, key: &K, now: Instant) -> Duration;

    /// Forgets the failures of this key. Cheap where there are none: it is called after each success.
    fn forget(&self, key: &K);

    /// How many failures of this key were noted since it was forgotten.
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

/// What client-go's controllers have: the longer of 5 ms, doubled with each failure of the key up to 1000 s, and a bucket for
/// all keys, of ten retries a second and a hundred at once.
pub fn default_rate_limiter<K: Clone + Eq + Hash + Send + Sync + 'static>() -> MaxOf<K> {
    let bucket = TokenBucket::new(NonZeroU32::MIN.saturating_add(9), NonZeroU32::MIN.saturating_add(99));
    MaxOf::new([Box::new(ExponentialBackoff::default()) as Box<dyn RateLimiter<K>>, Box::new(bucket)])
}

#[cfg(test)]
mod tests;
