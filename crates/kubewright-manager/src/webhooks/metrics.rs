//! The metrics of webhooks, under the names of controller-runtime.

use std::sync::atomic::{AtomicI32, Ordering};

use bytes::Bytes;
use http::{Response, StatusCode};
use kubewright_runtime::metrics::{Counter, Gauge, Histogram, Metric, Metrics};
use tokio::time::Instant;

use super::wire::{self, ReviewError};

const LATENCY: Metric = Metric {
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing webhook requests.",
};
const REQUESTS: Metric = Metric {
    name: "controller_runtime_webhook_requests_total",
    help: "Total number of webhook requests by HTTP status code.",
};
const IN_FLIGHT: Metric = Metric {
    name: "controller_runtime_webhook_requests_in_flight",
    help: "Current number of webhook requests being served.",
};
const PANICS: Metric =
    Metric { name: "controller_runtime_webhook_panics_total", help: "Total number of panics of admission webhooks." };
const CONVERSION_PANICS: Metric = Metric {
    name: "controller_runtime_conversion_webhook_panics_total",
    help: "Total number of panics of conversion webhooks.",
};
const CONVERSIONS: Metric =
    Metric { name: "conversion_webhook_objects_total", help: "Total number of converted objects, by result." };
const CONVERSION_TIME: Metric = Metric {
    name: "conversion_webhook_object_duration_seconds",
    help: "Histogram of the duration of the conversion of an object.",
};

/// The default buckets of Prometheus, and smaller ones: most reviews take less than a millisecond.
const LATENCY_BUCKETS: &[f64] = &[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// From microseconds, which a conversion usually takes.
const CONVERSION_BUCKETS: &[f64] = &[1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// The metrics of the requests of one path. All series exist from the start.
pub(super) struct RequestMetrics {
    metrics: Metrics,
    path: String,
    latency: Histogram,
    in_flight: Gauge,
    active: AtomicI32,
}

impl RequestMetrics {
    pub(super) fn new(metrics: Metrics, path: &str) -> Self {
        let labels = &[("webhook", path)];
        let metrics = RequestMetrics {
            path: path.to_owned(),
            latency: metrics.histogram(LATENCY, labels, LATENCY_BUCKETS),
            in_flight: metrics.gauge(IN_FLIGHT, labels),
            active: AtomicI32::new(0),
            metrics,
        };
        metrics.in_flight.set(0.0);
        [StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR].into_iter().for_each(|code| metrics.count(code, 0));
        metrics
    }

    /// Returns the response to a request, and records it. A request that is dropped has no response, such as after a
    /// timeout of the client.
    pub(super) async fn measure(&self, review: impl Future<Output = Result<Bytes, ReviewError>>) -> Response<Bytes> {
        let (since, _in_flight) = (Instant::now(), InFlight::new(self));
        let response = match review.await {
            Ok(body) => wire::json(body),
            Err(error) => {
                tracing::warn!(webhook = self.path, %error, "a request is not answered with a review");
                error.respond()
            }
        };
        self.latency.observe(since.elapsed().as_secs_f64());
        self.count(response.status(), 1);
        response
    }

    fn count(&self, code: StatusCode, requests: u64) {
        self.metrics.counter(REQUESTS, &[("webhook", &self.path), ("code", code.as_str())]).inc_by(requests);
    }

    fn add_in_flight(&self, change: i32) {
        let before = self.active.fetch_add(change, Ordering::Relaxed);
        self.in_flight.set(f64::from(before.saturating_add(change)));
    }
}

/// Counts a request while it is being processed.
struct InFlight<'a>(&'a RequestMetrics);

impl<'a> InFlight<'a> {
    fn new(metrics: &'a RequestMetrics) -> Self {
        metrics.add_in_flight(1);
        InFlight(metrics)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.add_in_flight(-1);
    }
}

/// Returns the counter of the panics of admission webhooks.
pub(super) fn panics(metrics: &Metrics) -> Counter {
    counter(metrics, PANICS, &[])
}

/// The metrics of the conversions of one kind. All series exist from the start.
pub(super) struct ConversionMetrics {
    pub(super) succeeded: Counter,
    pub(super) failed: Counter,
    pub(super) panicked: Counter,
    pub(super) duration: Histogram,
}

impl ConversionMetrics {
    pub(super) fn new(metrics: &Metrics, group: &str, kind: &str) -> Self {
        let result = |result| counter(metrics, CONVERSIONS, &[("group", group), ("kind", kind), ("result", result)]);
        ConversionMetrics {
            succeeded: result("success"),
            failed: result("error"),
            panicked: counter(metrics, CONVERSION_PANICS, &[]),
            duration: metrics.histogram(CONVERSION_TIME, &[("group", group), ("kind", kind)], CONVERSION_BUCKETS),
        }
    }
}

/// Returns a counter, with the value 0 if it is new.
fn counter(metrics: &Metrics, metric: Metric, labels: &[(&'static str, &str)]) -> Counter {
    let counter = metrics.counter(metric, labels);
    counter.inc_by(0);
    counter
}
