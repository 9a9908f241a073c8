//! The metrics of an agent, in the OpenMetrics text format.

use std::{
    sync::atomic::AtomicU64,
    time::{Duration, SystemTime},
};

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::record::Source;

/// The buckets of the duration of an fsync in seconds: from fast flash to a stalled network volume.
const FSYNC_BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

type Label = [(&'static str, &'static str); 1];

/// Why records are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// They could not be written. The client got an error.
    WriteFailed,
    /// A heartbeat found the queue full.
    QueueFull,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Too many records wait for their fsync.
    QueueFull,
    /// The rate limit is exceeded.
    RateLimited,
    /// The source requires a token that the request does not have.
    Unauthorized,
    /// The body is too large.
    TooLarge,
    /// The body is not what the source expects.
    Invalid,
}

/// Why a closed segment is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// All segments together are too large.
    Bytes,
    /// The segment is too old.
    Age,
    /// The file system is full.
    NoSpace,
}

/// The metrics of an agent. All series exist from the start.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    records: Family<Label, Counter>,
    bytes: Counter,
    duplicates: Counter,
    reused_ids: Counter,
    events_without_id: Counter,
    dropped: Family<Label, Counter>,
    rejected: Family<Label, Counter>,
    removed: Family<Label, Counter>,
    fsync_seconds: Histogram,
    fsync_errors: Counter,
    last_fsync: Gauge<f64, AtomicU64>,
    corrupt: Counter,
    truncated_bytes: Counter,
    clock_steps: Counter,
    segments: Gauge,
    segment_bytes: Gauge,
}

impl Metrics {
    /// The content type of [`text`](Self::text).
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Creates the metrics of one agent.
    #[must_use]
    pub fn new() -> Self {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("logger_agent"),
            records: Family::default(),
            bytes: Counter::default(),
            duplicates: Counter::default(),
            reused_ids: Counter::default(),
            events_without_id: Counter::default(),
            dropped: Family::default(),
            rejected: Family::default(),
            removed: Family::default(),
            fsync_seconds: Histogram::new(FSYNC_BUCKETS),
            fsync_errors: Counter::default(),
            last_fsync: Gauge::default(),
            corrupt: Counter::default(),
            truncated_bytes: Counter::default(),
            clock_steps: Counter::default(),
            segments: Gauge::default(),
            segment_bytes: Gauge::default(),
        };
        metrics.create_series();
        metrics.register_records();
        metrics.register_files();
        metrics
    }

    fn create_series(&self) {
        for source in Source::ALL {
            drop(self.records.get_or_create(&[("source", source.name())]));
        }
        for dropped in [Dropped::WriteFailed, Dropped::QueueFull] {
            drop(self.dropped.get_or_create(&[("reason", dropped.name())]));
        }
        for rejected in Rejected::ALL {
            drop(self.rejected.get_or_create(&[("reason", rejected.name())]));
        }
        for removed in [Removed::Bytes, Removed::Age, Removed::NoSpace] {
            drop(self.removed.get_or_create(&[("reason", removed.name())]));
        }
    }

    fn register_records(&mut self) {
        let registry = &mut self.registry;
        registry.register("records", "Records that were written to a segment", self.records.clone());
        registry.register("bytes", "Bytes of these records", self.bytes.clone());
        registry.register("duplicates", "Records that were written before and not again", self.duplicates.clone());
        let help = "Records with the id of a record with another body, which were written";
        registry.register("reused_ids", help, self.reused_ids.clone());
        let help = "Audit events without a valid id, which were written without deduplication";
        registry.register("events_without_id", help, self.events_without_id.clone());
        registry.register("dropped", "Records that were not written", self.dropped.clone());
        registry.register("rejected_requests", "Requests that were rejected", self.rejected.clone());
        let help = "Times at which the clock was earlier than that of the record before";
        registry.register("clock_steps", help, self.clock_steps.clone());
    }

    fn register_files(&mut self) {
        let registry = &mut self.registry;
        let (help, seconds) = ("Duration of the fsync of a segment", Unit::Seconds);
        registry.register_with_unit("fsync", help, seconds.clone(), self.fsync_seconds.clone());
        registry.register("fsync_errors", "Failed fsyncs of a segment", self.fsync_errors.clone());
        let help = "Unix time of the last successful fsync";
        registry.register_with_unit("last_fsync_timestamp", help, seconds, self.last_fsync.clone());
        registry.register("segments", "Segments of the agent", self.segments.clone());
        registry.register("segment_bytes", "Size of the segments of the agent", self.segment_bytes.clone());
        registry.register("removed_segments", "Closed segments that were removed", self.removed.clone());
        let help = "Lines of existing segments that are not valid records, at the start of the agent";
        registry.register("corrupt_lines", help, self.corrupt.clone());
        let help = "Bytes of a torn tail that were truncated at the start of the agent";
        registry.register("truncated_bytes", help, self.truncated_bytes.clone());
    }

    /// Returns the current values as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }

    /// Returns the number of records that were written.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        Source::ALL.into_iter().map(|source| self.records.get_or_create(&[("source", source.name())]).get()).sum()
    }

    /// Returns the number of records that were dropped.
    #[must_use]
    pub fn dropped_count(&self) -> u64 {
        [Dropped::WriteFailed, Dropped::QueueFull].into_iter().map(|reason| self.dropped_by(reason)).sum()
    }

    fn dropped_by(&self, reason: Dropped) -> u64 {
        self.dropped.get_or_create(&[("reason", reason.name())]).get()
    }

    /// Returns the number of closed segments that were removed for a reason.
    #[cfg(test)]
    pub(crate) fn removed_by(&self, reason: Removed) -> u64 {
        self.removed.get_or_create(&[("reason", reason.name())]).get()
    }

    pub(crate) fn add_record(&self, source: Source, bytes: usize) {
        self.records.get_or_create(&[("source", source.name())]).inc();
        self.bytes.inc_by(bytes as u64);
    }

    pub(crate) fn add_duplicate(&self) {
        self.duplicates.inc();
    }

    pub(crate) fn add_reused_id(&self) {
        self.reused_ids.inc();
    }

    pub(crate) fn add_event_without_id(&self) {
        self.events_without_id.inc();
    }

    pub(crate) fn add_dropped(&self, reason: Dropped, records: usize) {
        self.dropped.get_or_create(&[("reason", reason.name())]).inc_by(records as u64);
    }

    pub(crate) fn add_rejected(&self, reason: Rejected) {
        self.rejected.get_or_create(&[("reason", reason.name())]).inc();
    }

    pub(crate) fn add_removed(&self, reason: Removed) {
        self.removed.get_or_create(&[("reason", reason.name())]).inc();
    }

    pub(crate) fn add_fsync(&self, taken: Duration, is_ok: bool) {
        self.fsync_seconds.observe(taken.as_secs_f64());
        match (is_ok, SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)) {
            (true, Ok(time)) => {
                self.last_fsync.set(time.as_secs_f64());
            }
            (true, Err(_)) => {}
            (false, _) => {
                self.fsync_errors.inc();
            }
        }
    }

    pub(crate) fn add_clock_step(&self) {
        self.clock_steps.inc();
    }

    pub(crate) fn add_corrupt_lines(&self, lines: u64) {
        self.corrupt.inc_by(lines);
    }

    pub(crate) fn add_truncated_bytes(&self, bytes: u64) {
        self.truncated_bytes.inc_by(bytes);
    }

    /// Adds to the number and the size of the segments of all journals.
    pub(crate) fn add_segments(&self, count: i64, bytes: i64) {
        self.segments.inc_by(count);
        self.segment_bytes.inc_by(bytes);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Dropped {
    fn name(self) -> &'static str {
        match self {
            Dropped::WriteFailed => "write_failed",
            Dropped::QueueFull => "queue_full",
        }
    }
}

impl Rejected {
    const ALL: [Rejected; 5] =
        [Rejected::QueueFull, Rejected::RateLimited, Rejected::Unauthorized, Rejected::TooLarge, Rejected::Invalid];

    fn name(self) -> &'static str {
        match self {
            Rejected::QueueFull => "queue_full",
            Rejected::RateLimited => "rate_limited",
            Rejected::Unauthorized => "unauthorized",
            Rejected::TooLarge => "too_large",
            Rejected::Invalid => "invalid",
        }
    }
}

impl Removed {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Removed::Bytes => "bytes",
            Removed::Age => "age",
            Removed::NoSpace => "no_space",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_series_exist_from_the_start() {
        let text = Metrics::new().text();
        for line in [
            "logger_agent_records_total{source=\"heartbeat\"} 0",
            "logger_agent_bytes_total 0",
            "logger_agent_dropped_total{reason=\"write_failed\"} 0",
            "logger_agent_rejected_requests_total{reason=\"queue_full\"} 0",
            "logger_agent_removed_segments_total{reason=\"no_space\"} 0",
            "logger_agent_fsync_seconds_count 0",
            "logger_agent_last_fsync_timestamp_seconds 0.0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in {text}");
        }
    }

    #[test]
    fn the_guide_lists_every_metric() {
        let guide = include_str!("../../docs/example/agent.md");
        let text = Metrics::new().text();
        let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let missing: Vec<_> = kinds
            .map(|line| match line.split_once(' ') {
                Some((name, "counter")) => format!("`{name}_total`"),
                Some((name, _)) => format!("`{name}`"),
                None => line.to_owned(),
            })
            .filter(|name| !guide.contains(name))
            .collect();
        assert_eq!(missing, Vec::<String>::new());
    }
}
