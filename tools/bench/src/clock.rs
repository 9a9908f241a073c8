//! The clock with which processes compare times.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time on the monotonic clock, which all processes share.
pub fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}
