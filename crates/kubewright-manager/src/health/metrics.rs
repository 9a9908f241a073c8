//! The metrics of health checks, under the names of Kubernetes' component-base.

use kubewright_runtime::metrics::{Metric, Metrics};

const LAST: Metric = Metric { name: "kubernetes_healthcheck", help: "The last result of a health check: 1, or 0." };
const TOTAL: Metric =
    Metric { name: "kubernetes_healthchecks_total", help: "Total number of results of a health check, by status." };

/// Records the result of a check.
pub(super) fn record(metrics: &Metrics, endpoint: &str, check: &str, is_ok: bool) {
    let (value, status) = if is_ok { (1.0, "success") } else { (0.0, "error") };
    metrics.gauge(LAST, &[("name", check), ("type", endpoint)]).set(value);
    metrics.counter(TOTAL, &[("name", check), ("type", endpoint), ("status", status)]).inc();
}
