//! The journals of an agent: audit events have a dedicated one if other records are accepted as well.

use std::{sync::Arc, time::Instant};

use super::{Journal, JournalConfig, JournalError, JournalThread};
use crate::{
    file_system::FileSystem,
    metrics::Metrics,
    record::Source,
    segment::{AUDIT_DIRECTORY, Series},
};

/// The journals of an agent. Clones share them.
///
/// Guarantees:
/// - if audit events have a dedicated journal, records of other sources use neither its retention, nor its memory, nor
///   its queue: they cannot remove or delay audit events.
#[derive(Clone, Debug)]
pub struct Journals {
    main: Journal,
    audit: Option<Journal>,
}

/// The threads of the journals.
#[derive(Debug)]
#[must_use = "the last records are durable after `stop`"]
pub struct JournalThreads {
    main: JournalThread,
    audit: Option<JournalThread>,
}

impl Journals {
    /// Opens one journal for all sources.
    ///
    /// # Errors
    /// Fails as [`Journal::open`] does.
    pub fn open(
        files: Arc<dyn FileSystem>,
        series: Series,
        config: JournalConfig,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, JournalThreads), JournalError> {
        let (main, thread) = Journal::open(files, series, config, metrics)?;
        Ok((Journals { main, audit: None }, JournalThreads { main: thread, audit: None }))
    }

    /// Opens a journal for audit events in the subdirectory `audit`, and one for other records. Each has half of the
    /// retention and of the memory. On a file system that is too small for both, other records are removed first.
    ///
    /// # Errors
    /// Fails as [`Journal::open`] does, or if the subdirectory cannot be created.
    pub fn open_split(
        files: Arc<dyn FileSystem>,
        series: Series,
        config: &JournalConfig,
        metrics: Arc<Metrics>,
    ) -> Result<(Self, JournalThreads), JournalError> {
        config.validate()?;
        let (half, audit) = (config.half(), series.in_directory(AUDIT_DIRECTORY));
        let other = JournalConfig { leaves_space: true, ..half.clone() };
        let (main, main_thread) = Journal::open(Arc::clone(&files), series, other, Arc::clone(&metrics))?;
        match open_audit(files, audit, half, metrics) {
            Ok((audit, audit_thread)) => {
                let threads = JournalThreads { main: main_thread, audit: Some(audit_thread) };
                Ok((Journals { main, audit: Some(audit) }, threads))
            }
            Err(error) => {
                main_thread.join()?;
                Err(error)
            }
        }
    }

    /// Returns the journal of a source.
    #[must_use]
    pub fn get(&self, source: Source) -> &Journal {
        match (source, &self.audit) {
            (Source::Audit, Some(audit)) => audit,
            _ => &self.main,
        }
    }

    fn all(&self) -> impl Iterator<Item = &Journal> {
        [Some(&self.main), self.audit.as_ref()].into_iter().flatten()
    }

    /// Returns whether all threads run.
    #[must_use]
    pub fn are_running(&self) -> bool {
        self.all().all(Journal::is_running)
    }

    /// Waits until a thread has ended.
    pub async fn stopped(&self) {
        match &self.audit {
            Some(audit) => tokio::select! {
                () = self.main.stopped() => {}
                () = audit.stopped() => {}
            },
            None => self.main.stopped().await,
        }
    }

    /// Returns the journal that is always used.
    #[must_use]
    pub fn main(&self) -> &Journal {
        &self.main
    }

    /// Returns the dedicated journal of audit events, if there is one with records: without them it has no files.
    #[must_use]
    pub fn used_audit(&self) -> Option<&Journal> {
        self.audit.as_ref().filter(|audit| audit.is_used())
    }

    /// Returns the corrupt segments, as [`Journal::corrupt_segment`] does.
    #[must_use]
    pub fn corrupt_segment(&self) -> Option<String> {
        self.all().find_map(Journal::corrupt_segment)
    }

    /// Returns the last time at which a journal found the clock to be set back.
    #[must_use]
    pub fn clock_step(&self) -> Option<(Instant, String)> {
        self.all().filter_map(Journal::clock_step).max_by_key(|(since, _)| *since)
    }
}

fn open_audit(
    files: Arc<dyn FileSystem>,
    series: Series,
    config: JournalConfig,
    metrics: Arc<Metrics>,
) -> Result<(Journal, JournalThread), JournalError> {
    let directory = series.directory();
    files.create_directory(directory).map_err(|source| JournalError::directory(directory, source))?;
    Journal::open(files, series, config, metrics)
}

impl JournalThreads {
    /// Makes all records durable, and waits for the end of the threads.
    ///
    /// # Errors
    /// Fails if records could not be made durable, or if a thread panicked.
    pub async fn stop(self) -> Result<(), JournalError> {
        let stopped = self.main.stop().await;
        if let Some(audit) = self.audit {
            audit.stop().await?;
        }
        stopped
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;
    use crate::{
        file_system::Disk,
        journal::{Acknowledgement, AppendError},
        record::Draft,
        verify::verify,
    };

    #[tokio::test]
    async fn a_flood_of_activity_removes_no_audit_event() {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::new(directory.path(), "log", "0").unwrap();
        let config = JournalConfig {
            segment_bytes: 4 << 10,
            retention_bytes: 64 << 10,
            acknowledgement_delay: Duration::ZERO,
            ..JournalConfig::new(Duration::from_secs(60))
        };
        let (journals, threads) =
            Journals::open_split(Arc::new(Disk), series, &config, Arc::new(Metrics::new())).unwrap();
        append(&journals, Source::Audit, "{\"verb\":\"delete\"}").await.unwrap();
        let body = format!("{{\"text\":\"{}\"}}", "x".repeat(3000));
        for _ in 0..50 {
            append(&journals, Source::Activity, &body).await.unwrap();
        }
        threads.stop().await.unwrap();
        let files = |directory| fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let text = |path| fs::read_to_string(path).unwrap();
        let audit: String = files(directory.path().join(AUDIT_DIRECTORY)).map(text).collect();
        assert_eq!(audit.matches("\"source\":\"audit\"").count(), 1, "{audit}");
        let size: u64 = files(directory.path().to_owned()).map(|path| path.metadata().unwrap().len()).sum();
        assert!(size < 40 << 10, "half of the retention: {size} bytes");
        let summary = verify(&Disk, directory.path(), &mut |finding| panic!("{finding}")).unwrap();
        assert_eq!(summary.series.len(), 2, "{summary}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_directory_of_audit_events_is_a_start_error() {
        let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), directory.path().join(AUDIT_DIRECTORY)).unwrap();
        let open = || {
            let series = Series::new(directory.path(), "log", "0").unwrap();
            let config = JournalConfig::new(Duration::from_secs(60));
            Journals::open_split(Arc::new(Disk), series, &config, Arc::new(Metrics::new()))
        };
        let error = open().unwrap_err().to_string();
        assert!(error.starts_with("cannot write to the directory `"), "{error}");
        fs::remove_file(directory.path().join(AUDIT_DIRECTORY)).unwrap();
        let (_, threads) = open().expect("the thread of the other journal has ended");
        threads.main.join().unwrap();
        threads.audit.unwrap().join().unwrap();
    }

    async fn append(journals: &Journals, source: Source, body: &str) -> Result<(), AppendError> {
        let draft = Draft::new(source, None, serde_json::from_str(body).unwrap());
        let journal = journals.get(source);
        let reservation = journal.reserve(draft.body().len())?;
        journal.append(vec![draft], Acknowledgement::Durable, reservation).await.map(drop)
    }
}
