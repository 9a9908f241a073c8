//! A bounded cache whose entries expire. Its keys are digests.

use std::{fmt, num::NonZeroUsize, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use ring::digest::{self, SHA256};
use tokio::time::Instant;

/// The SHA-256 digest of a key, which can be secret.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Digest(Vec<u8>);

impl Digest {
    pub(super) fn new(key: &[u8]) -> Self {
        Digest(digest::digest(&SHA256, key).as_ref().to_vec())
    }
}

/// A cache that evicts the least recently used entry. An expired entry is not returned.
pub(super) struct Cache<V>(Mutex<LruCache<Digest, Entry<V>>>);

struct Entry<V> {
    value: V,
    expires: Instant,
}

impl<V: Clone> Cache<V> {
    /// Creates a cache with at least one entry.
    pub(super) fn new(size: usize) -> Self {
        Cache(Mutex::new(LruCache::new(NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN))))
    }

    pub(super) fn get(&self, digest: &Digest) -> Option<V> {
        let mut entries = self.0.lock();
        let entry = entries.get(digest)?;
        if entry.expires > Instant::now() {
            return Some(entry.value.clone());
        }
        entries.pop(digest);
        None
    }

    pub(super) fn insert(&self, digest: Digest, value: V, ttl: Duration) {
        self.0.lock().put(digest, Entry { value, expires: Instant::now() + ttl });
    }

    pub(super) fn remove(&self, digest: &Digest) {
        self.0.lock().pop(digest);
    }
}

impl<V: Clone> fmt::Debug for Cache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("entries", &self.0.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    fn digest(key: &str) -> Digest {
        Digest::new(key.as_bytes())
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_entry_is_not_returned() {
        let cache = Cache::new(2);
        cache.insert(digest("a"), 1, TTL);
        advance(TTL - Duration::from_secs(1)).await;
        assert_eq!(cache.get(&digest("a")), Some(1));
        advance(Duration::from_secs(1)).await;
        assert_eq!(cache.get(&digest("a")), None);
        assert_eq!(cache.0.lock().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_recently_used_entry_is_evicted() {
        let cache = Cache::new(2);
        cache.insert(digest("a"), 1, TTL);
        cache.insert(digest("b"), 2, TTL);
        assert_eq!(cache.get(&digest("a")), Some(1));
        cache.insert(digest("c"), 3, TTL);
        assert_eq!(
            [cache.get(&digest("a")), cache.get(&digest("b")), cache.get(&digest("c"))],
            [Some(1), None, Some(3)]
        );
    }
}
