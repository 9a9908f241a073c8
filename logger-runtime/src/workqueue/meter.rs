//! The metrics of a queue, under the names that client-go gives them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::{Counter, Gauge, Histogram, Metric, Metrics};

/// How often the ages of keys at work are told.
const REFRESH: Duration = Duration::from_millis(500);

/// From 10 ns to 1000 s, as client-go has them.
const BUCKETS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3];

const DEPTH: Metric =
    Metric { name: "workqueue_depth", help: "Keys that wait, or come again once their work is done." };
const ADDS: Metric = Metric { name: "workqueue_adds_total", help: "Keys that came to wait." };
const RETRIES: Metric = Metric { name: "workqueue_retries_total", help: "Keys that were added with a delay." };
const WAITED: Metric =
    Metric { name: "workqueue_queue_duration_seconds", help: "How long keys waited before they were worked on." };
const WORKED: Metric = Metric { name: "workqueue_work_duration_seconds", help: "How long keys were worked on." };
const UNFINISHED: Metric =
    Metric { name: "workqueue_unfinished_work_seconds", help: "The sum of how long keys are at work so far." };
const LONGEST: Metric = Metric {
    name: "workqueue_longest_running_processor_seconds",
    help: "How long the key that is longest at work is so far.",
};

/// The lines of one queue.
pub(super) struct Meter {
    depth: Arc<dyn Gauge>,
    adds: Arc<dyn Counter>,
    retries: Arc<dyn Counter>,
    waited: Arc<dyn Histogram>,
    worked: Arc<dyn Histogram>,
    unfinished: Arc<dyn Gauge>,
    longest: Arc<dyn Gauge>,
    waiting: u32,
    working: u32,
    /// Where time begins for this queue, and the sum of when each work began since then.
    epoch: Instant,
    began: Duration,
    refreshed: Instant,
}

impl Meter {
    pub(super) fn new(metrics: &dyn Metrics, queue: &str, now: Instant) -> Self {
        let labels = [("name", queue)];
        Meter {
            depth: metrics.gauge(DEPTH, &labels),
            adds: metrics.counter(ADDS, &labels),
            retries: metrics.counter(RETRIES, &labels),
            waited: metrics.histogram(WAITED, &labels, BUCKETS),
            worked: metrics.histogram(WORKED, &labels, BUCKETS),
            unfinished: metrics.gauge(UNFINISHED, &labels),
            longest: metrics.gauge(LONGEST, &labels),
            waiting: 0,
            working: 0,
            epoch: now,
            began: Duration::ZERO,
            refreshed: now,
        }
    }

    /// A key was added with a delay, or after a failure.
    pub(super) fn retried(&self) {
        self.retries.add(1);
    }

    /// A key came to wait, or comes again once its work is done.
    pub(super) fn accepted(&mut self) {
        self.adds.add(1);
        self.waiting += 1;
        self.depth.set(self.waiting.into());
    }

    /// A key was given out.
    pub(super) fn taken(&mut self, waited: Duration, now: Instant) {
        self.waiting -= 1;
        self.depth.set(self.waiting.into());
        self.waited.observe(waited.as_secs_f64());
        self.working += 1;
        self.began += now.saturating_duration_since(self.epoch);
    }

    /// The work on a key that began then is done.
    pub(super) fn done(&mut self, started: Instant, worked: Duration) {
        self.worked.observe(worked.as_secs_f64());
        self.working -= 1;
        self.began -= started.saturating_duration_since(self.epoch);
    }

    /// Tells how long keys are at work, the oldest this long; at most each half second unless it must be now.
    pub(super) fn refresh(&mut self, now: Instant, must: bool, oldest: Duration) {
        if !must && now.saturating_duration_since(self.refreshed) < REFRESH {
            return;
        }
        self.refreshed = now;
        let all = now.saturating_duration_since(self.epoch) * self.working;
        self.unfinished.set(all.saturating_sub(self.began).as_secs_f64());
        self.longest.set(oldest.as_secs_f64());
    }
}
