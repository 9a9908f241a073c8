//! The connection between a process and the API server: latency, and lost requests and responses.

use std::time::Duration;

use fastrand::Rng;

/// The conditions of one connection at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// Whether nothing arrives.
    pub(crate) is_cut: bool,
    /// Whether single messages are lost or delayed.
    pub(crate) is_faulty: bool,
}

impl Conditions {
    /// Returns the latency of a message; `None` if it is lost.
    pub(crate) fn latency(self, random: &mut Rng) -> Option<Duration> {
        let usual = Duration::from_millis(random.u64(1..50));
        if self.is_cut {
            return None;
        }
        if !self.is_faulty {
            return Some(usual);
        }
        match random.u32(..100) {
            0..3 => None,
            3..8 => Some(Duration::from_millis(random.u64(..4000))),
            // Longer than the timeout: a write is applied after its sender gave up.
            8..10 => Some(Duration::from_millis(random.u64(..19_000))),
            _ => Some(usual),
        }
    }
}
