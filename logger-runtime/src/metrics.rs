//! Where measurements go: the one trait to plug a metrics system in, and the names client-go gives its metrics.

#[cfg(feature = "prometheus")]
mod prometheus;

use std::fmt::Debug;
use std::sync::{Arc, Weak};

#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;

/// What is measured: the same on every line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Such as `workqueue_depth`; a counter's ends in `_total`, as dashboards ask for it.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
}

/// The labels of one line, in a fixed order.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// A metrics system. Asking for the same line again gives the same line.
pub trait Metrics: Debug + Send + Sync + 'static {
    /// Something that only grows.
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter>;

    /// Something that goes up and down.
    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge>;

    /// A distribution, in seconds unless the name says otherwise; the buckets are upper bounds, ascending.
    fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Arc<dyn Histogram>;

    /// Has this called before each time the lines are read, for as long as it lives: for what changes while nothing
    /// happens, such as ages. A system that cannot tell when it is read leaves it out, and such lines are as old as the
    /// last thing that happened.
    fn refresh_with(&self, refresh: Weak<dyn Refresh>) {
        drop(refresh);
    }
}

/// Something with lines that change while nothing happens.
pub trait Refresh: Send + Sync {
    /// Sets them to what is so now. Must be quick: a scrape waits for it.
    fn refresh(&self);
}

/// One line that only grows.
pub trait Counter: Send + Sync {
    /// Adds this many.
    fn add(&self, count: u64);
}

/// One line that goes up and down.
pub trait Gauge: Send + Sync {
    /// It is this now.
    fn set(&self, value: f64);
}

/// One distribution.
pub trait Histogram: Send + Sync {
    /// Notes one value.
    fn observe(&self, value: f64);
}

/// A count as a gauge or histogram takes it; exact up to four thousand millions, and no more than that.
pub(crate) fn count(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}

/// Measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMetrics;

impl Metrics for NoMetrics {
    fn counter(&self, _: Metric, _: Labels<'_>) -> Arc<dyn Counter> {
        Arc::new(NoMetrics)
    }

    fn gauge(&self, _: Metric, _: Labels<'_>) -> Arc<dyn Gauge> {
        Arc::new(NoMetrics)
    }

    fn histogram(&self, _: Metric, _: Labels<'_>, _: &'static [f64]) -> Arc<dyn Histogram> {
        Arc::new(NoMetrics)
    }
}

impl Counter for NoMetrics {
    fn add(&self, _: u64) {}
}

impl Gauge for NoMetrics {
    fn set(&self, _: f64) {}
}

impl Histogram for NoMetrics {
    fn observe(&self, _: f64) {}
}
