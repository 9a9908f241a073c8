//! The metrics of a controller, under the names of controller-runtime.

use std::time::Duration;

use parking_lot::Mutex;

use crate::metrics::{self, Counter, Gauge, Histogram, Metric, Metrics};

const TOTAL: Metric = Metric {
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller, by result.",
};
const ERRORS: Metric = Metric {
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of failed reconciliations per controller.",
};
const TERMINAL: Metric = Metric {
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Total number of reconciliations with a terminal error per controller.",
};
const PANICS: Metric = Metric {
    name: "controller_runtime_reconcile_panics_total",
    help: "Total number of reconciliations that panicked per controller.",
};
const TIMEOUTS: Metric = Metric {
    name: "controller_runtime_reconcile_timeouts_total",
    help: "Total number of reconciliations that timed out per controller.",
};
const TIME: Metric = Metric {
    name: "controller_runtime_reconcile_time_seconds",
    help: "The duration of reconciliations per controller.",
};
const WORKERS: Metric = Metric {
    name: "controller_runtime_max_concurrent_reconciles",
    help: "The maximum number of concurrent reconciliations per controller.",
};
const ACTIVE: Metric =
    Metric { name: "controller_runtime_active_workers", help: "The number of running reconciliations per controller." };

/// In seconds, as in controller-runtime.
const TIME_BUCKETS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

/// The metrics of one controller. All counters are created at zero, so that the first failure is visible as an
/// increase.
pub(super) struct ControllerMetrics {
    pub(super) success: Counter,
    pub(super) requeue: Counter,
    pub(super) requeue_after: Counter,
    error: Counter,
    errors: Counter,
    pub(super) terminal_errors: Counter,
    pub(super) panics: Counter,
    pub(super) timeouts: Counter,
    time: Histogram,
    max_concurrent_reconciles: Gauge,
    active: Gauge,
    active_count: Mutex<usize>,
}

impl ControllerMetrics {
    pub(super) fn new(metrics: &Metrics, controller: &str) -> Self {
        let labels: &[_] = &[("controller", controller)];
        let total = |result| metrics.counter(TOTAL, &[("controller", controller), ("result", result)]);
        ControllerMetrics {
            success: total("success"),
            requeue: total("requeue"),
            requeue_after: total("requeue_after"),
            error: total("error"),
            errors: metrics.counter(ERRORS, labels),
            terminal_errors: metrics.counter(TERMINAL, labels),
            panics: metrics.counter(PANICS, labels),
            timeouts: metrics.counter(TIMEOUTS, labels),
            time: metrics.histogram(TIME, labels, TIME_BUCKETS),
            max_concurrent_reconciles: metrics.gauge(WORKERS, labels),
            active: metrics.gauge(ACTIVE, labels),
            active_count: Mutex::default(),
        }
    }

    pub(super) fn set_max_concurrent_reconciles(&self, count: usize) {
        self.max_concurrent_reconciles.set(metrics::count(count));
    }

    /// Counts a failure: an error, a timeout or a panic.
    pub(super) fn count_error(&self) {
        self.error.inc();
        self.errors.inc();
    }

    pub(super) fn observe_time(&self, time: Duration) {
        self.time.observe(time.as_secs_f64());
    }

    /// Counts a running reconciliation until the returned guard is dropped.
    pub(super) fn start_reconciliation(&self) -> ActiveGuard<'_> {
        self.update_active(|active| active + 1);
        ActiveGuard(self)
    }

    /// Sets the gauge under the lock, so that the last value set is the current one.
    fn update_active(&self, update: impl Fn(usize) -> usize) {
        let mut active = self.active_count.lock();
        *active = update(*active);
        self.active.set(metrics::count(*active));
    }
}

pub(super) struct ActiveGuard<'a>(&'a ControllerMetrics);

impl Drop for ActiveGuard<'_> {
    fn drop(&mut self) {
        self.0.update_active(|active| active - 1);
    }
}
