//! How long to wait after a failure: per key, twice as long each time.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

const BASE: Duration = Duration::from_millis(5);
const MAX: Duration = Duration::from_secs(1000);

/// Failures of each key since it was last forgotten. The numbers are those of client-go's default controller limiter.
pub(super) struct ExponentialBackoff<K> {
    failures: HashMap<K, u32>,
}

impl<K> Default for ExponentialBackoff<K> {
    fn default() -> Self {
        ExponentialBackoff { failures: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> ExponentialBackoff<K> {
    /// Notes a failure and tells how long to wait.
    pub(super) fn next(&mut self, key: &K) -> Duration {
        let failures = self.failures.entry(key.clone()).or_default();
        let delay = 2u32.checked_pow(*failures).and_then(|factor| BASE.checked_mul(factor)).unwrap_or(MAX);
        *failures = failures.saturating_add(1);
        delay.min(MAX)
    }

    pub(super) fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    pub(super) fn failures(&self, key: &K) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_from_5_ms_to_1000_s_and_each_key_has_its_own() {
        let mut backoff = ExponentialBackoff::default();
        let delays: Vec<_> = (0..4).map(|_| backoff.next(&"a").as_millis()).collect();
        assert_eq!(delays, [5, 10, 20, 40]);
        assert_eq!(backoff.next(&"b").as_millis(), 5);
        (0..100).for_each(|_| assert!(backoff.next(&"a") <= MAX));
        assert_eq!(backoff.next(&"a"), MAX);
    }

    #[test]
    fn a_forgotten_key_starts_anew() {
        let mut backoff = ExponentialBackoff::default();
        backoff.next(&"a");
        backoff.forget(&"a");
        assert_eq!((backoff.failures(&"a"), backoff.next(&"a")), (0, BASE));
    }
}
