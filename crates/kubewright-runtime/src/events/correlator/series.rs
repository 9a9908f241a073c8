//! A series: an event with the number of its occurrences.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::events::v1::{Event, EventSeries},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use tokio::time::Instant;

use super::{Verb, Write};
use crate::events::reporter::Reporter;

/// The time without an occurrence after which a series ends, as in client-go.
const MAX_IDLE: Duration = Duration::from_secs(6 * 60);
/// The time between two writes of a running series, as in client-go. It is less than the lifetime of an event.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30 * 60);

/// The event of a series and its state. A series with one occurrence is a single event.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) number: u64,
    /// When the correlator checks the series next.
    pub(super) deadline: Instant,
    reporter: Arc<Reporter>,
    event: Box<Event>,
    occurrences: i32,
    written: i32,
    last_time: Timestamp,
    last_seen: Instant,
    last_written: Instant,
}

impl Series {
    pub(super) fn new(number: u64, reporter: Arc<Reporter>, event: Box<Event>, time: Timestamp, now: Instant) -> Self {
        let mut series = Series {
            number,
            deadline: now,
            reporter,
            event,
            occurrences: 1,
            written: 1,
            last_time: time,
            last_seen: now,
            last_written: now,
        };
        series.deadline = series.next_deadline();
        series
    }

    /// Counts an occurrence.
    pub(super) fn count(&mut self, time: Timestamp, now: Instant) {
        self.occurrences = self.occurrences.saturating_add(1);
        self.last_time = self.last_time.max(time);
        self.last_seen = self.last_seen.max(now);
    }

    /// Returns whether the API server has the event as a series.
    pub(super) fn is_running(&self) -> bool {
        self.written > 1
    }

    pub(super) fn is_idle(&self, now: Instant) -> bool {
        now >= self.last_seen + MAX_IDLE
    }

    pub(super) fn is_refresh_due(&self, now: Instant) -> bool {
        self.is_unwritten() && now >= self.last_written + REFRESH_INTERVAL
    }

    /// Returns when the series becomes idle or due for a write. It is never earlier than the last result, unless the
    /// series was written since.
    pub(super) fn next_deadline(&self) -> Instant {
        let idle = self.last_seen + MAX_IDLE;
        match self.is_unwritten() {
            true => idle.min(self.last_written + REFRESH_INTERVAL),
            false => idle,
        }
    }

    /// Returns the write that creates the event.
    pub(super) fn creation(&self) -> Write {
        Write {
            series: self.number,
            reporter: Arc::clone(&self.reporter),
            verb: Verb::Create,
            event: self.event.clone(),
        }
    }

    /// Returns a write of the current count.
    pub(super) fn write(&mut self, now: Instant) -> Write {
        self.written = self.occurrences;
        self.last_written = now;
        let last_observed_time = MicroTime(self.last_time);
        self.event.series = Some(EventSeries { count: self.occurrences, last_observed_time });
        Write { verb: Verb::Patch, ..self.creation() }
    }

    /// Returns the last write of a series that ends; `None` if its count is written, or if it is a single event.
    pub(super) fn last_write(mut self, now: Instant) -> Option<Write> {
        self.is_unwritten().then(|| self.write(now))
    }

    fn is_unwritten(&self) -> bool {
        self.occurrences > self.written
    }
}
