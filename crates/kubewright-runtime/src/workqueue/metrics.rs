//! The metrics of a queue, under the names of client-go.

use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::{Counter, Gauge, Histogram, Metric, Metrics};

/// The minimum time between updates of the unfinished work.
const UPDATE_INTERVAL: Duration = Duration::from_millis(500);

/// From 10 ns to 1000 s, as in client-go.
const BUCKETS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3];

const DEPTH: Metric =
    Metric { name: "workqueue_depth", help: "Keys that are ready, or requeued once their processing is done." };
const ADDS: Metric = Metric { name: "workqueue_adds_total", help: "Keys added to the queue." };
const RETRIES: Metric = Metric { name: "workqueue_retries_total", help: "Keys added with a delay or after a failure." };
const QUEUE_DURATION: Metric =
    Metric { name: "workqueue_queue_duration_seconds", help: "How long keys were ready before they were processed." };
const WORK_DURATION: Metric = Metric { name: "workqueue_work_duration_seconds", help: "How long keys were processed." };
const UNFINISHED: Metric = Metric {
    name: "workqueue_unfinished_work_seconds",
    help: "The sum of the processing times of keys being processed.",
};
const LONGEST: Metric = Metric {
    name: "workqueue_longest_running_processor_seconds",
    help: "The longest processing time of a key being processed.",
};

/// The metrics of one queue.
pub(super) struct QueueMetrics {
    depth: Gauge,
    adds: Counter,
    retries: Counter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished: Gauge,
    longest: Gauge,
    ready: u32,
    processing: u32,
    epoch: Instant,
    /// The sum of the start times, since the epoch, of all keys being processed.
    start_sum: Duration,
    updated: Instant,
}

impl QueueMetrics {
    pub(super) fn new(metrics: &Metrics, queue: &str, now: Instant) -> Self {
        let labels = [("name", queue)];
        QueueMetrics {
            depth: metrics.gauge(DEPTH, &labels),
            adds: metrics.counter(ADDS, &labels),
            retries: metrics.counter(RETRIES, &labels),
            queue_duration: metrics.histogram(QUEUE_DURATION, &labels, BUCKETS),
            work_duration: metrics.histogram(WORK_DURATION, &labels, BUCKETS),
            unfinished: metrics.gauge(UNFINISHED, &labels),
            longest: metrics.gauge(LONGEST, &labels),
            ready: 0,
            processing: 0,
            epoch: now,
            start_sum: Duration::ZERO,
            updated: now,
        }
    }

    /// Records a key that was added with a delay or after a failure.
    pub(super) fn retry(&self) {
        self.retries.inc();
    }

    /// Records a key that became ready, or will be requeued.
    pub(super) fn add(&mut self) {
        self.adds.inc();
        self.ready += 1;
        self.depth.set(self.ready.into());
    }

    /// Records a key that was handed to a worker.
    pub(super) fn get(&mut self, queued: Duration, now: Instant) {
        self.ready -= 1;
        self.depth.set(self.ready.into());
        self.queue_duration.observe(queued.as_secs_f64());
        self.processing += 1;
        self.start_sum += now.saturating_duration_since(self.epoch);
    }

    /// Records a key whose processing is done.
    pub(super) fn done(&mut self, started: Instant, processed: Duration) {
        self.work_duration.observe(processed.as_secs_f64());
        self.processing -= 1;
        self.start_sum -= started.saturating_duration_since(self.epoch);
    }

    /// Updates the unfinished work, at most once per half second unless `force` is set.
    pub(super) fn update_unfinished_work(&mut self, now: Instant, force: bool, longest: Duration) {
        if !force && now.saturating_duration_since(self.updated) < UPDATE_INTERVAL {
            return;
        }
        self.updated = now;
        let total = now.saturating_duration_since(self.epoch) * self.processing;
        self.unfinished.set(total.saturating_sub(self.start_sum).as_secs_f64());
        self.longest.set(longest.as_secs_f64());
    }
}
