//! Reads the values of metrics from their text.

use kubewright_runtime::metrics::Metrics;

/// Returns the value of a time series, such as `workqueue_depth{name="loggers"}`, after a refresh.
pub(crate) fn value(metrics: &Metrics, series: &str) -> Option<f64> {
    let text = metrics.text();
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}
