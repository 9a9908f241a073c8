//! The limit of records per second.

use std::{num::NonZeroU32, time::Duration};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock};

/// Limits the records per second. A burst may have the records of one second.
#[derive(Debug)]
pub struct RateLimit {
    records: NonZeroU32,
    limiter: DefaultDirectRateLimiter,
}

impl RateLimit {
    /// Creates a limit.
    #[must_use]
    pub fn new(records_per_second: NonZeroU32) -> Self {
        let limiter = RateLimiter::direct(Quota::per_second(records_per_second));
        RateLimit { records: records_per_second, limiter }
    }

    /// Takes the tokens of a request. More records than those of a burst take the tokens of one.
    ///
    /// # Errors
    /// Returns the time after which the request can be repeated.
    pub fn take(&self, records: usize) -> Result<(), Duration> {
        let records = u32::try_from(records).unwrap_or(u32::MAX).min(self.records.get());
        let Some(records) = NonZeroU32::new(records) else { return Ok(()) };
        match self.limiter.check_n(records) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(limited)) => Err(limited.wait_time_from(self.limiter.clock().now())),
            // Not reached: there are at most as many records as in a burst.
            Err(_) => Err(Duration::from_secs(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_one_second_is_accepted() {
        let limit = RateLimit::new(NonZeroU32::new(2).unwrap());
        assert_eq!(limit.take(0), Ok(()));
        assert_eq!(limit.take(400), Ok(()), "a list larger than a burst");
        assert!(limit.take(2).unwrap_err() <= Duration::from_secs(1));
    }
}
