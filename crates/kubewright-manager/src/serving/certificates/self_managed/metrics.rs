//! The metrics of self-managed certificates.

use std::sync::Arc;

use jiff::Timestamp;
use kubewright_runtime::metrics::{Counter, Gauge, Metric, MetricsProvider};

const AUTHORITY_EXPIRATION: Metric = Metric {
    name: "webhook_certificate_authority_expiration_timestamp_seconds",
    help: "Unix time at which the authority of the webhook certificates expires.",
};
const CHANGES: Metric = Metric {
    name: "webhook_certificate_changes_total",
    help: "Total number of changes of the Secret of the webhook certificates.",
};
const ERRORS: Metric = Metric {
    name: "webhook_certificate_errors_total",
    help: "Total number of failed steps of the rotation of webhook certificates.",
};

/// The metrics of one set of certificates.
pub(super) struct Metrics {
    authority_expiration: Arc<dyn Gauge>,
    changes: Arc<dyn Counter>,
    errors: Arc<dyn Counter>,
}

impl Metrics {
    pub(super) fn new(metrics: &dyn MetricsProvider) -> Self {
        let authority_expiration = metrics.gauge(AUTHORITY_EXPIRATION, &[]);
        // Until there is one, it is not compared with a time.
        authority_expiration.set(f64::NAN);
        Metrics { authority_expiration, changes: metrics.counter(CHANGES, &[]), errors: metrics.counter(ERRORS, &[]) }
    }

    pub(super) fn observe_authority(&self, not_after: Timestamp) {
        self.authority_expiration.set(not_after.as_second() as f64);
    }

    pub(super) fn changed(&self) {
        self.changes.add(1);
    }

    pub(super) fn failed(&self) {
        self.errors.add(1);
    }
}
