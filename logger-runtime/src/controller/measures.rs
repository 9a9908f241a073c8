//! What a controller measures of its work, under the names of controller-runtime.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::metrics::{self, Counter, Gauge, Histogram, Metric, Metrics};

const TOTAL: Metric = Metric {
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller, by result.",
};
const ERRORS: Metric = Metric {
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of reconciliations that failed, per controller.",
};
const TERMINAL: Metric = Metric {
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Total number of reconciliations that failed for good, per controller.",
};
const PANICS: Metric = Metric {
    name: "controller_runtime_reconcile_panics_total",
    help: "Total number of reconciliations that panicked, per controller.",
};
const TIMEOUTS: Metric = Metric {
    name: "controller_runtime_reconcile_timeouts_total",
    help: "Total number of reconciliations that took too long, per controller.",
};
const TIME: Metric = Metric {
    name: "controller_runtime_reconcile_time_seconds",
    help: "How long reconciliations take, per controller.",
};
const WORKERS: Metric = Metric {
    name: "controller_runtime_max_concurrent_reconciles",
    help: "How many reconciliations may run at once, per controller.",
};
const ACTIVE: Metric =
    Metric { name: "controller_runtime_active_workers", help: "How many reconciliations run, per controller." };

/// In seconds, as controller-runtime has them.
const TIME_BUCKETS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

/// The lines of one controller. All are there from the start, at zero, so that a first failure is a rise.
pub(super) struct Measures {
    pub(super) success: Arc<dyn Counter>,
    pub(super) requeue: Arc<dyn Counter>,
    pub(super) requeue_after: Arc<dyn Counter>,
    error: Arc<dyn Counter>,
    errors: Arc<dyn Counter>,
    pub(super) terminal: Arc<dyn Counter>,
    pub(super) panics: Arc<dyn Counter>,
    pub(super) timeouts: Arc<dyn Counter>,
    time: Arc<dyn Histogram>,
    workers: Arc<dyn Gauge>,
    active: Arc<dyn Gauge>,
    running: Mutex<usize>,
}

impl Measures {
    pub(super) fn new(metrics: &dyn Metrics, controller: &str) -> Self {
        let labels: &[_] = &[("controller", controller)];
        let total = |result| metrics.counter(TOTAL, &[("controller", controller), ("result", result)]);
        Measures {
            success: total("success"),
            requeue: total("requeue"),
            requeue_after: total("requeue_after"),
            error: total("error"),
            errors: metrics.counter(ERRORS, labels),
            terminal: metrics.counter(TERMINAL, labels),
            panics: metrics.counter(PANICS, labels),
            timeouts: metrics.counter(TIMEOUTS, labels),
            time: metrics.histogram(TIME, labels, TIME_BUCKETS),
            workers: metrics.gauge(WORKERS, labels),
            active: metrics.gauge(ACTIVE, labels),
            running: Mutex::default(),
        }
    }

    pub(super) fn workers(&self, count: usize) {
        self.workers.set(metrics::count(count));
    }

    /// A failure of whatever kind.
    pub(super) fn failed(&self) {
        self.error.add(1);
        self.errors.add(1);
    }

    pub(super) fn took(&self, time: Duration) {
        self.time.observe(time.as_secs_f64());
    }

    /// Counts a running reconciliation until it is dropped.
    pub(super) fn running(&self) -> Running<'_> {
        self.change_running(|running| running + 1);
        Running(self)
    }

    /// Told under the lock, so that the last to tell tells the truth.
    fn change_running(&self, change: impl Fn(usize) -> usize) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = change(*running);
        self.active.set(metrics::count(*running));
    }
}

pub(super) struct Running<'a>(&'a Measures);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.change_running(|running| running - 1);
    }
}
