//! The metrics of Loggers.

use std::sync::Arc;

use logger_runtime::{
    ObjectKey,
    metrics::{Metric, MetricsProvider},
};

/// The number of ready agents of a Logger.
pub const AGENTS_READY: Metric =
    Metric { name: "logger_agents_ready", help: "Number of ready agents of a Logger; 0 after its deletion." };
/// The desired number of agents of a Logger.
pub const AGENTS_DESIRED: Metric =
    Metric { name: "logger_agents_desired", help: "Desired number of agents of a Logger; 0 after its deletion." };
/// The interval of a Logger.
pub const INTERVAL: Metric =
    Metric { name: "logger_interval_seconds", help: "Interval between two writes of a Logger; 0 after its deletion." };

/// Reports the metrics of Loggers.
#[derive(Clone, Debug)]
pub(crate) struct LoggerMetrics(Arc<dyn MetricsProvider>);

impl LoggerMetrics {
    pub(crate) fn new(provider: Arc<dyn MetricsProvider>) -> Self {
        LoggerMetrics(provider)
    }

    /// Reports the ready and the desired number of agents, and the interval in seconds.
    pub(crate) fn report(&self, logger: &ObjectKey, ready: i32, desired: i32, interval: i32) {
        let labels = [("logger_namespace", logger.namespace()), ("logger", logger.name())];
        for (metric, value) in [(AGENTS_READY, ready), (AGENTS_DESIRED, desired), (INTERVAL, interval)] {
            self.0.gauge(metric, &labels).set(value.into());
        }
    }

    /// Reports that the Logger is deleted. The time series remain, with the value 0.
    pub(crate) fn forget(&self, logger: &ObjectKey) {
        self.report(logger, 0, 0, 0);
    }
}
