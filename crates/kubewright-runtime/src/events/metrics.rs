//! The metrics of a recorder. client-go has none for events, so the names follow its style.

use crate::metrics::{Counter, Metric, Metrics};

const RECORDED: Metric =
    Metric { name: "event_recorder_recorded_total", help: "Creations of events and updates of series." };
const DROPPED: Metric = Metric { name: "event_recorder_dropped_total", help: "Recorded events that were dropped." };
const FAILED: Metric = Metric { name: "event_recorder_failed_total", help: "Writes of events that failed for good." };
const RETRIES: Metric = Metric { name: "event_recorder_retries_total", help: "Requests for events that were retried." };

/// The metrics of one controller. All counters are created at zero, so that the first failure is visible as an
/// increase.
pub(super) struct EventMetrics {
    /// Writes that the API server accepted.
    pub(super) recorded: Counter,
    /// Dropped because the queue was full.
    pub(super) queue_full: Counter,
    /// Dropped because the object had no token.
    pub(super) rate_limited: Counter,
    /// Dropped because the worker had stopped.
    pub(super) stopped: Counter,
    /// Rejected by the API server.
    pub(super) rejected: Counter,
    /// Failed in every try.
    pub(super) retries_exhausted: Counter,
    /// Not written when the flush timed out.
    pub(super) flush_timeout: Counter,
    pub(super) retries: Counter,
}

impl EventMetrics {
    pub(super) fn new(metrics: &Metrics, controller: &str) -> Self {
        let labels: &[_] = &[("controller", controller)];
        let counter = |metric, reason| metrics.counter(metric, &[("controller", controller), ("reason", reason)]);
        EventMetrics {
            recorded: metrics.counter(RECORDED, labels),
            queue_full: counter(DROPPED, "queue_full"),
            rate_limited: counter(DROPPED, "rate_limited"),
            stopped: counter(DROPPED, "stopped"),
            rejected: counter(FAILED, "rejected"),
            retries_exhausted: counter(FAILED, "retries_exhausted"),
            flush_timeout: counter(FAILED, "flush_timeout"),
            retries: metrics.counter(RETRIES, labels),
        }
    }
}
