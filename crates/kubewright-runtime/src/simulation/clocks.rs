//! The clocks of a simulated process.

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// The largest difference of a wall clock from real time, in seconds.
const MAX_SKEW: i64 = 3600;

/// The clocks of one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    rate: f64,
    offset: Duration,
    skew: SignedDuration,
}

impl Clocks {
    pub(super) fn new(drift: f64, random: &mut Rng) -> Self {
        Clocks {
            rate: 1.0 + drift * (2.0 * random.f64() - 1.0),
            offset: Duration::from_secs(random.u64(..100_000)),
            skew: SignedDuration::from_secs(random.i64(-MAX_SKEW..=MAX_SKEW)),
        }
    }

    /// Returns the time of the monotonic clock at a real time.
    pub(crate) fn monotonic(self, now: Duration) -> Duration {
        self.offset + now.mul_f64(self.rate)
    }

    /// Returns the real time at which the monotonic clock shows a time. It is not earlier, in spite of rounding.
    pub(crate) fn real(self, time: Duration) -> Duration {
        time.saturating_sub(self.offset).div_f64(self.rate) + Duration::from_nanos(10)
    }

    pub(super) fn wall(self, now: Duration) -> Timestamp {
        let now = SignedDuration::try_from(now).unwrap();
        Timestamp::from_second(1_800_000_000).unwrap().checked_add(now + self.skew).unwrap()
    }
}
