//! Health checks: the agent is ready while records become durable.

use std::time::{Duration, Instant};

use crate::{interface::NOT_DURABLE, journal::Journal};

/// The number of intervals after which a missing fsync means that the agent is not ready.
const MAX_INTERVALS: u32 = 2;

/// The health of an agent.
///
/// Guarantees:
/// - the agent is ready only after an fsync that succeeded within the last two intervals;
/// - the agent is live while the thread of its journal runs. A full disk does not make it restart.
#[derive(Clone, Debug)]
pub struct Health {
    journal: Journal,
    interval: Duration,
}

impl Health {
    /// Creates the checks of a journal whose records become durable in this interval.
    #[must_use]
    pub fn new(journal: Journal, interval: Duration) -> Self {
        Health { journal, interval }
    }

    /// Checks whether the agent works at all.
    ///
    /// # Errors
    /// Returns the reason why it does not.
    pub fn live(&self) -> Result<(), String> {
        match self.journal.is_running() {
            true => Ok(()),
            false => Err("the journal is stopped".to_owned()),
        }
    }

    /// Checks whether records become durable.
    ///
    /// # Errors
    /// Returns the reason why they do not.
    pub fn ready(&self) -> Result<(), String> {
        self.live()?;
        let age = self.journal.last_fsync().map(|last| Instant::now().saturating_duration_since(last));
        check_fsync(age, self.interval).map_err(|reason| match self.journal.last_error() {
            Some(error) => format!("{NOT_DURABLE}{error}"),
            None => reason,
        })
    }
}

/// Checks the age of the last fsync.
fn check_fsync(age: Option<Duration>, interval: Duration) -> Result<(), String> {
    match age {
        None => Err("no record is durable yet".to_owned()),
        Some(age) if age > interval.saturating_mul(MAX_INTERVALS) => {
            Err(format!("no fsync has succeeded within two intervals of {interval:?}"))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_ready_only_after_an_fsync_within_two_intervals() {
        let interval = Duration::from_secs(10);
        assert_eq!(check_fsync(Some(Duration::from_secs(20)), interval), Ok(()));
        assert_eq!(check_fsync(None, interval).unwrap_err(), "no record is durable yet");
        let error = check_fsync(Some(Duration::from_secs(21)), interval).unwrap_err();
        assert_eq!(error, "no fsync has succeeded within two intervals of 10s");
    }
}
