//! The limits of records and of bytes per second.

use std::{num::NonZeroU32, time::Duration};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock};

/// Limits the records and the bytes per second of one source. A burst may have those of one second.
#[derive(Debug)]
pub struct RateLimit {
    records: Limit,
    bytes: Limit,
}

#[derive(Debug)]
struct Limit {
    burst: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
}

impl RateLimit {
    /// Creates the limits.
    #[must_use]
    pub fn new(records_per_second: NonZeroU32, bytes_per_second: NonZeroU32) -> Self {
        RateLimit { records: Limit::new(records_per_second), bytes: Limit::new(bytes_per_second) }
    }

    /// Takes the tokens of records. More records than those of a burst take the tokens of one.
    ///
    /// # Errors
    /// Returns the time after which the request can be repeated.
    pub fn take_records(&self, records: usize) -> Result<(), Duration> {
        self.records.take(records)
    }

    /// Takes the tokens of bytes. More bytes than those of a burst take the tokens of one.
    ///
    /// # Errors
    /// Returns the time after which the request can be repeated.
    pub fn take_bytes(&self, bytes: usize) -> Result<(), Duration> {
        self.bytes.take(bytes)
    }
}

impl Limit {
    fn new(per_second: NonZeroU32) -> Self {
        Limit { burst: per_second, limiter: RateLimiter::direct(Quota::per_second(per_second)) }
    }

    fn take(&self, count: usize) -> Result<(), Duration> {
        let count = u32::try_from(count).unwrap_or(u32::MAX).min(self.burst.get());
        let Some(count) = NonZeroU32::new(count) else { return Ok(()) };
        match self.limiter.check_n(count) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(limited)) => Err(limited.wait_time_from(self.limiter.clock().now())),
            // Not reached: the count is at most that of a burst.
            Err(_) => Err(Duration::from_secs(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_one_second_is_accepted() {
        let limit = RateLimit::new(NonZeroU32::new(2).unwrap(), NonZeroU32::new(10).unwrap());
        assert_eq!(limit.take_records(0), Ok(()));
        assert_eq!(limit.take_records(400), Ok(()), "a list larger than a burst");
        assert!(limit.take_records(2).unwrap_err() <= Duration::from_secs(1));
        assert_eq!(limit.take_bytes(400), Ok(()), "a body larger than a burst");
        assert!(limit.take_bytes(10).unwrap_err() <= Duration::from_secs(1));
    }
}
