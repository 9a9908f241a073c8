//! What an informer measures, under the names of Kubernetes' component-base, and what waits for each handler.

use std::sync::Arc;
use std::time::Duration;

use crate::metrics::{self, Gauge, Histogram, Labels, Metric, Metrics};
use crate::version::ResourceVersion;

/// Seconds, those of component-base.
const SECONDS: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

const QUEUED: Metric =
    Metric { name: "informer_queued_items", help: "Number of items that wait for the informer's handlers, together" };
const LATENCY: Metric = Metric {
    name: "informer_processing_latency_seconds",
    help: "Time taken to change the store by an event and hand it to the handlers",
};
const VERSION: Metric = Metric {
    name: "informer_store_resource_version",
    help: "The 15 least significant digits of the resource version of the store",
};
const PENDING: Metric =
    Metric { name: "informer_handler_pending_items", help: "Number of items that wait for a handler that has a name" };

/// Which informer is measured.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    pub(super) metrics: Arc<dyn Metrics>,
    pub(super) name: String,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
}

/// The lines of one informer.
pub(super) struct Measured {
    measures: Measures,
    queued: Arc<dyn Gauge>,
    latency: Arc<dyn Histogram>,
    version: Arc<dyn Gauge>,
}

impl Measured {
    pub(super) fn new(measures: Measures) -> Self {
        let Measures { metrics, name, group, version, resource } = &measures;
        let labels: Labels<'_> = &[("name", name), ("group", group), ("version", version), ("resource", resource)];
        let queued = metrics.gauge(QUEUED, labels);
        let latency = metrics.histogram(LATENCY, labels, SECONDS);
        let version = metrics.gauge(VERSION, labels);
        Measured { measures, queued, latency, version }
    }

    pub(super) fn metrics(&self) -> &dyn Metrics {
        self.measures.metrics.as_ref()
    }

    /// The line of a handler.
    pub(super) fn of_handler(&self, handler: &str) -> Arc<dyn Gauge> {
        let Measures { metrics, name, group, version, resource } = &self.measures;
        let labels: Labels<'_> =
            &[("name", name), ("group", group), ("version", version), ("resource", resource), ("handler", handler)];
        metrics.gauge(PENDING, labels)
    }

    pub(super) fn processed(&self, took: Duration) {
        self.latency.observe(took.as_secs_f64());
    }

    pub(super) fn stands(&self, queued: usize, version: Option<&ResourceVersion>) {
        self.queued.set(metrics::count(queued));
        if let Some(digits) = version.and_then(ResourceVersion::last_digits) {
            self.version.set(digits);
        }
    }
}
