//! The metrics of a reflector, under the names that client-go's reflector had.

use std::time::Duration;

use crate::{
    metrics::{self, Counter, Gauge, Histogram, Labels, Metric, Metrics},
    object::ResourceVersion,
};

/// In seconds, from a list served from memory to the longest watch.
const DURATION_BUCKETS: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0];
/// Numbers of objects or events.
const COUNT_BUCKETS: &[f64] = &[0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0];

/// The metrics of one kind. The resource name is the only label, which bounds the number of time series, except for the
/// gauge of failing requests, which has the namespace of the reflector.
pub(super) struct ReflectorMetrics {
    lists: Counter,
    list_duration: Histogram,
    items_per_list: Histogram,
    watches: Counter,
    short_watches: Counter,
    watch_duration: Histogram,
    items_per_watch: Histogram,
    last_version: Gauge,
    object_errors: Counter,
    skipped_objects: Gauge,
}

/// Returns the gauge of failing requests of a reflector.
pub(super) fn failing(metrics: &Metrics, resource: &str, namespace: Option<&str>) -> Gauge {
    let metric = Metric { name: "reflector_failing", help: "1 while the lists and watches fail, and 0 otherwise." };
    metrics.gauge(metric, &[("name", resource), ("namespace", namespace.unwrap_or_default())])
}

impl ReflectorMetrics {
    pub(super) fn new(metrics: &Metrics, resource: &str) -> Self {
        let labels: Labels<'_> = &[("name", resource)];
        let counter = |name, help| metrics.counter(Metric { name, help }, labels);
        let histogram = |name, help, buckets| metrics.histogram(Metric { name, help }, labels, buckets);
        let version = Metric {
            name: "reflector_last_resource_version",
            help: "The last 15 digits of the last resource version of the reflector.",
        };
        let skipped = Metric {
            name: "reflector_skipped_objects",
            help: "The number of objects that are skipped: their last known state is outdated or missing.",
        };
        ReflectorMetrics {
            lists: counter("reflector_lists_total", "Completed lists."),
            list_duration: histogram(
                "reflector_list_duration_seconds",
                "The duration of lists, including all pages.",
                DURATION_BUCKETS,
            ),
            items_per_list: histogram("reflector_items_per_list", "The number of objects per list.", COUNT_BUCKETS),
            watches: counter("reflector_watches_total", "Ended watches."),
            short_watches: counter("reflector_short_watches_total", "Watches that ended within 1 s without events."),
            watch_duration: histogram("reflector_watch_duration_seconds", "The duration of watches.", DURATION_BUCKETS),
            items_per_watch: histogram("reflector_items_per_watch", "The number of events per watch.", COUNT_BUCKETS),
            last_version: metrics.gauge(version, labels),
            object_errors: counter(
                "reflector_object_errors_total",
                "Received objects that could not be decoded, or whose transform panicked.",
            ),
            skipped_objects: metrics.gauge(skipped, labels),
        }
    }

    pub(super) fn list_completed(&self, duration: Duration, objects: usize) {
        self.lists.inc();
        self.list_duration.observe(duration.as_secs_f64());
        self.items_per_list.observe(metrics::count(objects));
    }

    pub(super) fn watch_ended(&self, duration: Duration, events: usize) {
        self.watches.inc();
        self.watch_duration.observe(duration.as_secs_f64());
        self.items_per_watch.observe(metrics::count(events));
    }

    pub(super) fn short_watch(&self) {
        self.short_watches.inc();
    }

    pub(super) fn object_error(&self) {
        self.object_errors.inc();
    }

    pub(super) fn set_skipped(&self, objects: usize) {
        self.skipped_objects.set(metrics::count(objects));
    }

    pub(super) fn set_version(&self, version: &ResourceVersion) {
        if let Some(digits) = version.last_digits() {
            self.last_version.set(digits);
        }
    }
}
