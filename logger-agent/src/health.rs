//! Health checks: the agent is ready while records become durable.

use std::time::{Duration, Instant};

use crate::{
    interface::{CLOCK_STEPPED_BACK, CORRUPT_SEGMENT, NOT_DURABLE},
    journal::Journals,
};

/// The number of intervals after which a missing fsync means that the agent is not ready.
const MAX_INTERVALS: u32 = 2;

/// How long a clock that was set back is reported: longer than the time between two requests of the operator.
const CLOCK_STEP_TIME: Duration = Duration::from_mins(15);

/// The health of an agent.
///
/// Guarantees:
/// - the agent is ready only after an fsync that succeeded within the last two intervals;
/// - the agent is live while the thread of its journal runs. A full disk does not make it restart;
/// - a corrupt segment and a clock that was set back are reported, and the agent remains ready.
#[derive(Clone, Debug)]
pub struct Health {
    journals: Journals,
    interval: Duration,
}

impl Health {
    /// Creates the checks of journals whose records become durable in this interval.
    #[must_use]
    pub fn new(journals: Journals, interval: Duration) -> Self {
        Health { journals, interval }
    }

    /// Checks whether the agent works at all.
    ///
    /// # Errors
    /// Returns the reason why it does not.
    pub fn live(&self) -> Result<(), String> {
        match self.journals.are_running() {
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
        let age = self.journals.last_fsync().map(|last| Instant::now().saturating_duration_since(last));
        check_fsync(age, self.interval).map_err(|reason| match self.journals.last_error() {
            Some(error) => format!("{NOT_DURABLE}{error}"),
            None => reason,
        })
    }

    /// Returns what needs attention although records become durable, one line each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let clock_step = self.journals.clock_step();
        let age = |since| Instant::now().saturating_duration_since(since);
        warnings(self.journals.corrupt_segment(), clock_step.map(|(since, text)| (age(since), text)))
    }
}

/// Returns the lines about a corrupt segment, and about a clock step of this age.
fn warnings(corrupt_segment: Option<String>, clock_step: Option<(Duration, String)>) -> Vec<String> {
    let corrupt_segment = corrupt_segment.map(|description| format!("{CORRUPT_SEGMENT}{description}"));
    let clock_step = clock_step.filter(|(age, _)| *age <= CLOCK_STEP_TIME);
    let clock_step = clock_step.map(|(_, description)| format!("{CLOCK_STEPPED_BACK}{description}"));
    corrupt_segment.into_iter().chain(clock_step).collect()
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

    #[test]
    fn a_clock_step_is_reported_for_a_limited_time() {
        let step = |age: Duration| warnings(None, Some((age, "a: from 2 to 1".to_owned())));
        assert_eq!(step(CLOCK_STEP_TIME), ["clock stepped back: a: from 2 to 1"]);
        assert_eq!(step(CLOCK_STEP_TIME + Duration::from_secs(1)), Vec::<String>::new());
    }
}
