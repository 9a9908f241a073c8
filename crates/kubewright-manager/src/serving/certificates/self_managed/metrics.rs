//! The metrics of self-managed certificates.

use jiff::Timestamp;
use kubewright_runtime::metrics::{Counter, Gauge, Metric, Metrics};

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
pub(super) struct RotationMetrics {
    authority_expiration: Gauge,
    changes: Counter,
    errors: Counter,
}

impl RotationMetrics {
    pub(super) fn new(metrics: &Metrics) -> Self {
        let authority_expiration = metrics.gauge(AUTHORITY_EXPIRATION, &[]);
        // Until there is one, it is not compared with a time.
        authority_expiration.set(f64::NAN);
        let (changes, errors) = (metrics.counter(CHANGES, &[]), metrics.counter(ERRORS, &[]));
        RotationMetrics { authority_expiration, changes, errors }
    }

    pub(super) fn observe_authority(&self, not_after: Timestamp) {
        self.authority_expiration.set(not_after.as_second() as f64);
    }

    pub(super) fn changed(&self) {
        self.changes.inc();
    }

    pub(super) fn failed(&self) {
        self.errors.inc();
    }
}
