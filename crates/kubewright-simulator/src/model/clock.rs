//! The clock of a cluster: timestamps that advance with tokio's time, also while that is paused.

use std::time::Duration;

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{MicroTime, Time},
    jiff::{SignedDuration, Timestamp},
};
use tokio::time::Instant;

/// The maximum duration, 100 years: a clock cannot represent all times after longer ones.
const MAX: Duration = Duration::from_secs(3_153_600_000);

/// Returns timestamps that advance with tokio's time. Clones share the origin.
///
/// The controllers of a cluster compare only timestamps of this clock, and never those of the API server, whose clock
/// does not follow paused time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Timestamp,
    started: Instant,
}

impl Clock {
    /// Starts a clock at the current time.
    pub(crate) fn start() -> Self {
        Clock { origin: Timestamp::now(), started: Instant::now() }
    }

    fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.started.elapsed()).unwrap_or(SignedDuration::ZERO);
        self.origin.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Returns the current time in seconds, as objects contain it.
    pub(crate) fn time(&self) -> Time {
        Time(Timestamp::from_second(self.now().as_second()).unwrap_or(Timestamp::MAX))
    }

    /// Returns the current time in microseconds, for leases.
    pub(crate) fn micro_time(&self) -> MicroTime {
        MicroTime(Timestamp::from_microsecond(self.now().as_microsecond()).unwrap_or(Timestamp::MAX))
    }

    /// Returns how long ago a time was; zero if it is in the future.
    pub(crate) fn since(&self, time: &Time) -> Duration {
        Duration::try_from(self.now().duration_since(time.0)).unwrap_or(Duration::ZERO)
    }

    /// Returns how long it takes until this duration has passed since a time; `None` if it has.
    pub(crate) fn remaining(&self, time: &Time, duration: Duration) -> Option<Duration> {
        duration.checked_sub(self.since(time)).filter(|remaining| !remaining.is_zero())
    }
}

/// Returns a number of seconds as a duration of at most 100 years; zero if it is negative.
pub(crate) fn seconds(seconds: impl Into<i64>) -> Duration {
    Duration::from_secs(u64::try_from(seconds.into()).unwrap_or_default()).min(MAX)
}

/// Returns the time after a duration, of which at most 100 years count.
pub(crate) fn after(start: Instant, duration: Duration) -> Instant {
    start + duration.min(MAX)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_follows_paused_time() {
        let clock = Clock::start();
        let start = clock.time();
        advance(Duration::from_secs(90)).await;
        assert_eq!(clock.time().0.as_second() - start.0.as_second(), 90);
        assert!(clock.since(&start) >= Duration::from_secs(90));
        assert_eq!(clock.remaining(&start, Duration::from_secs(90)), None);
        let remaining = clock.remaining(&start, Duration::from_secs(120)).unwrap();
        assert!(remaining <= Duration::from_secs(30) && remaining > Duration::from_secs(28), "{remaining:?}");
    }

    #[test]
    fn negative_seconds_are_no_time() {
        assert_eq!((seconds(-1), seconds(3_i64)), (Duration::ZERO, Duration::from_secs(3)));
    }

    #[test]
    fn long_durations_are_limited() {
        let now = Instant::now();
        assert_eq!((seconds(i64::MAX), after(now, Duration::MAX)), (MAX, now + MAX));
    }
}
