//! Health checks: the agent is ready while records become durable.

use std::time::{Duration, Instant};

use crate::{
    interface::{CLOCK_STEPPED_BACK, CORRUPT_SEGMENT, NOT_DURABLE},
    journal::{Journal, Journals},
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
        self.check(self.journals.main())?;
        match self.journals.used_audit() {
            // Its first record is not durable yet.
            Some(audit) if audit.last_fsync().is_none() && audit.last_error().is_none() => Ok(()),
            Some(audit) => self.check(audit),
            None => Ok(()),
        }
    }

    fn check(&self, journal: &Journal) -> Result<(), String> {
        let age = journal.last_fsync().map(|last| Instant::now().saturating_duration_since(last));
        check_fsync(age, self.interval).map_err(|reason| match journal.last_error() {
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
    use std::{fs, sync::Arc};

    use super::*;
    use crate::{
        file_system::Disk,
        journal::{Acknowledgement, AppendError, JournalConfig},
        metrics::Metrics,
        record::{Draft, Source},
        segment::{AUDIT_DIRECTORY, Series},
    };

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

    #[tokio::test]
    async fn audit_events_that_are_not_durable_make_the_agent_unready() {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::new(directory.path(), "log", "0").unwrap();
        let config =
            JournalConfig { acknowledgement_delay: Duration::ZERO, ..JournalConfig::new(Duration::from_secs(60)) };
        let (journals, threads) =
            Journals::open_split(Arc::new(Disk), series.clone(), &config, Arc::new(Metrics::new())).unwrap();
        let health = Health::new(journals.clone(), Duration::from_secs(60));
        append(&journals, Source::Activity).await.unwrap();
        assert_eq!(health.ready(), Ok(()), "no audit event was sent");
        // A file with a record has the name of the first segment.
        let path = series.in_directory(AUDIT_DIRECTORY).path(0);
        fs::write(&path, "important\n").unwrap();
        append(&journals, Source::Audit).await.unwrap_err();
        let error = health.ready().unwrap_err();
        assert!(error.starts_with("records are not durable: the segment `"), "{error}");
        fs::remove_file(&path).unwrap();
        append(&journals, Source::Audit).await.unwrap();
        assert_eq!(health.ready(), Ok(()));
        threads.stop().await.unwrap();
    }

    async fn append(journals: &Journals, source: Source) -> Result<(), AppendError> {
        let draft = Draft::new(source, None, serde_json::from_str("{}").unwrap());
        let journal = journals.get(source);
        let reservation = journal.reserve(draft.body().len())?;
        journal.append(vec![draft], Acknowledgement::Durable, reservation).await.map(drop)
    }
}
