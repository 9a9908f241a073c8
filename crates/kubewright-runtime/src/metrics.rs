//! The metrics interface: a provider trait for metrics backends, with client-go's metric names.

mod client;
#[cfg(feature = "prometheus")]
mod prometheus;

use std::{
    fmt::Debug,
    sync::{Arc, Weak},
};

pub use client::{ClientMetricsFuture, ClientMetricsLayer, ClientMetricsService, client_with_metrics};
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;

/// A metric: the name and help text that all its time series share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Such as `workqueue_depth`. The name of a counter includes its `_total` suffix.
    pub name: &'static str,
    /// The help text: one sentence.
    pub help: &'static str,
}

/// The labels of one time series, in a fixed order.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// Creates metrics. Two calls with the same metric and labels return the same time series.
pub trait MetricsProvider: Debug + Send + Sync + 'static {
    /// Returns a counter.
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter>;

    /// Returns a gauge.
    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge>;

    /// Returns a histogram, in seconds unless its name specifies another unit. The buckets are ascending upper bounds.
    fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Arc<dyn Histogram>;

    /// Removes the gauge with these labels, such as that of a deleted object. A value that is set later on a gauge that
    /// was returned before is discarded. A provider that cannot remove time series need not implement this: they then
    /// keep their last values.
    fn remove_gauge(&self, metric: Metric, labels: Labels<'_>) {
        let _ = (metric, labels);
    }

    /// Registers a callback that runs before each scrape for as long as it is alive, for values that change without an
    /// event, such as ages. A provider that cannot detect a scrape need not implement this: such values are then
    /// updated at the next event only.
    fn register_refresh(&self, refresh: Weak<dyn Refresh>) {
        drop(refresh);
    }
}

/// Owns metrics whose values change without an event.
pub trait Refresh: Send + Sync {
    /// Sets the metrics to their current values. Must be fast: a scrape waits for it.
    fn refresh(&self);
}

/// A monotonically increasing value.
pub trait Counter: Send + Sync {
    /// Adds `count` to the value.
    fn add(&self, count: u64);
}

/// A value that can increase and decrease.
pub trait Gauge: Send + Sync {
    /// Sets the value.
    fn set(&self, value: f64);
}

/// A distribution of values.
pub trait Histogram: Send + Sync {
    /// Records one value.
    fn observe(&self, value: f64);
}

/// Converts a count to the value of a gauge or histogram; counts above [`u32::MAX`] saturate.
#[cfg(feature = "informers")]
pub(crate) fn count(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}

/// Discards all metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopMetrics;

impl MetricsProvider for NoopMetrics {
    fn counter(&self, _: Metric, _: Labels<'_>) -> Arc<dyn Counter> {
        Arc::new(NoopMetrics)
    }

    fn gauge(&self, _: Metric, _: Labels<'_>) -> Arc<dyn Gauge> {
        Arc::new(NoopMetrics)
    }

    fn histogram(&self, _: Metric, _: Labels<'_>, _: &'static [f64]) -> Arc<dyn Histogram> {
        Arc::new(NoopMetrics)
    }
}

impl Counter for NoopMetrics {
    fn add(&self, _: u64) {}
}

impl Gauge for NoopMetrics {
    fn set(&self, _: f64) {}
}

impl Histogram for NoopMetrics {
    fn observe(&self, _: f64) {}
}
