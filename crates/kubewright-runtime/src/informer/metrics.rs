//! The metrics of an informer, under the names of Kubernetes' component-base, and the pending events per handler.

use std::time::Duration;

use crate::{
    metrics::{self, Counter, Gauge, Histogram, Labels, Metric, Metrics},
    object::ResourceVersion,
};

/// In seconds, as in component-base.
const LATENCY_BUCKETS: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

const QUEUED_ITEMS: Metric =
    Metric { name: "informer_queued_items", help: "The number of pending items of all handlers of the informer." };
const PROCESSING_LATENCY: Metric = Metric {
    name: "informer_processing_latency_seconds",
    help: "The time to apply an event to the store and to queue it for the handlers.",
};
const STORE_RESOURCE_VERSION: Metric = Metric {
    name: "informer_store_resource_version",
    help: "The 15 least significant digits of the resource version of the store.",
};
const HANDLER_PENDING_ITEMS: Metric =
    Metric { name: "informer_handler_pending_items", help: "The number of pending items of a named handler." };

const USER_CODE_PANICS: Metric = Metric {
    name: "informer_user_code_panics_total",
    help: "Panics of handlers, filters, predicates, mappings and index functions, which were caught.",
};

/// Where the metrics of an informer are collected, and their labels.
#[derive(Clone, Debug)]
pub(super) struct MetricsConfig {
    pub(super) metrics: Metrics,
    pub(super) name: String,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
}

/// The metrics of one informer.
pub(super) struct InformerMetrics {
    config: MetricsConfig,
    queued_items: Gauge,
    processing_latency: Histogram,
    store_version: Gauge,
    user_code_panics: Counter,
}

impl InformerMetrics {
    pub(super) fn new(config: MetricsConfig) -> Self {
        let MetricsConfig { metrics, name, group, version, resource } = &config;
        let labels: Labels<'_> = &[("name", name), ("group", group), ("version", version), ("resource", resource)];
        let queued_items = metrics.gauge(QUEUED_ITEMS, labels);
        let processing_latency = metrics.histogram(PROCESSING_LATENCY, labels, LATENCY_BUCKETS);
        let store_version = metrics.gauge(STORE_RESOURCE_VERSION, labels);
        let user_code_panics = metrics.counter(USER_CODE_PANICS, labels);
        InformerMetrics { config, queued_items, processing_latency, store_version, user_code_panics }
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.config.metrics
    }

    /// Returns the gauge of a handler's pending items.
    pub(super) fn handler_pending_items(&self, handler: &str) -> Gauge {
        let MetricsConfig { metrics, name, group, version, resource } = &self.config;
        let labels: Labels<'_> =
            &[("name", name), ("group", group), ("version", version), ("resource", resource), ("handler", handler)];
        metrics.gauge(HANDLER_PENDING_ITEMS, labels)
    }

    pub(super) fn user_code_panicked(&self) {
        self.user_code_panics.inc();
    }

    pub(super) fn event_processed(&self, latency: Duration) {
        self.processing_latency.observe(latency.as_secs_f64());
    }

    pub(super) fn set_state(&self, queued: usize, version: Option<&ResourceVersion>) {
        self.queued_items.set(metrics::count(queued));
        if let Some(digits) = version.and_then(ResourceVersion::last_digits) {
            self.store_version.set(digits);
        }
    }
}
