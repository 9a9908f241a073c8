//! What a reflector counts, under the names client-go's reflector had.

use std::sync::Arc;
use std::time::Duration;

use crate::metrics::{self, Counter, Gauge, Histogram, Labels, Metric, Metrics};
use crate::version::ResourceVersion;

/// Seconds, from a list out of memory to the longest watch.
const SECONDS: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0];
/// Objects or events.
const ITEMS: &[f64] = &[0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0];

/// The lines of one kind: the kind's resource is their only label, so there are as many as there are kinds.
pub(super) struct Measured {
    lists: Arc<dyn Counter>,
    list_seconds: Arc<dyn Histogram>,
    items_per_list: Arc<dyn Histogram>,
    watches: Arc<dyn Counter>,
    short_watches: Arc<dyn Counter>,
    watch_seconds: Arc<dyn Histogram>,
    items_per_watch: Arc<dyn Histogram>,
    last_version: Arc<dyn Gauge>,
}

impl Measured {
    pub(super) fn new(metrics: &dyn Metrics, resource: &str) -> Self {
        let labels: Labels<'_> = &[("name", resource)];
        let counter = |name, help| metrics.counter(Metric { name, help }, labels);
        let histogram = |name, help, buckets| metrics.histogram(Metric { name, help }, labels, buckets);
        let version = Metric {
            name: "reflector_last_resource_version",
            help: "Last 15 digits of the resourceVersion the reflector has come to",
        };
        Measured {
            lists: counter("reflector_lists_total", "Lists that the reflectors completed"),
            list_seconds: histogram(
                "reflector_list_duration_seconds",
                "How long a list took, all pages of it",
                SECONDS,
            ),
            items_per_list: histogram("reflector_items_per_list", "How many objects a list had", ITEMS),
            watches: counter("reflector_watches_total", "Watches that the reflectors began"),
            short_watches: counter(
                "reflector_short_watches_total",
                "Watches that ended within a second, without an event",
            ),
            watch_seconds: histogram("reflector_watch_duration_seconds", "How long a watch lasted", SECONDS),
            items_per_watch: histogram("reflector_items_per_watch", "How many events a watch had", ITEMS),
            last_version: metrics.gauge(version, labels),
        }
    }

    pub(super) fn listed(&self, took: Duration, objects: usize) {
        self.lists.add(1);
        self.list_seconds.observe(took.as_secs_f64());
        self.items_per_list.observe(metrics::count(objects));
    }

    pub(super) fn watched(&self, lasted: Duration, events: usize) {
        self.watches.add(1);
        self.watch_seconds.observe(lasted.as_secs_f64());
        self.items_per_watch.observe(metrics::count(events));
    }

    pub(super) fn short_watch(&self) {
        self.short_watches.add(1);
    }

    pub(super) fn version(&self, version: &ResourceVersion) {
        if let Some(digits) = version.last_digits() {
            self.last_version.set(digits);
        }
    }
}
