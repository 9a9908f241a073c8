//! The metrics of Loggers.

use std::time::Duration;

use kubewright_runtime::{
    ObjectKey,
    metrics::{Metric, Metrics},
};

/// The number of ready agents of a Logger.
pub const AGENTS_READY: Metric = Metric { name: "logger_agents_ready", help: "Number of ready agents of a Logger." };
/// The desired number of agents of a Logger.
pub const AGENTS_DESIRED: Metric =
    Metric { name: "logger_agents_desired", help: "Desired number of agents of a Logger." };
/// The interval of a Logger.
pub const INTERVAL: Metric =
    Metric { name: "logger_interval_seconds", help: "Interval between two writes of a Logger." };

/// Reports the metrics of Loggers.
#[derive(Clone, Debug)]
pub(crate) struct LoggerMetrics(Metrics);

impl LoggerMetrics {
    pub(crate) fn new(metrics: Metrics) -> Self {
        LoggerMetrics(metrics)
    }

    /// Reports the ready and the desired number of agents, and the interval.
    pub(crate) fn report(&self, logger: &ObjectKey, ready: i32, desired: i32, interval: Duration) {
        let labels = labels(logger);
        let (ready, desired, interval) = (f64::from(ready), f64::from(desired), interval.as_secs_f64());
        for (metric, value) in [(AGENTS_READY, ready), (AGENTS_DESIRED, desired), (INTERVAL, interval)] {
            self.0.gauge(metric, &labels).set(value);
        }
    }

    /// Removes the time series of a deleted Logger.
    pub(crate) fn forget(&self, logger: &ObjectKey) {
        for metric in [AGENTS_READY, AGENTS_DESIRED, INTERVAL] {
            self.0.remove_gauge(metric, &labels(logger));
        }
    }
}

fn labels(logger: &ObjectKey) -> [(&'static str, &str); 2] {
    [("logger_namespace", logger.namespace()), ("logger", logger.name())]
}
