//! Prometheus metrics under the names of client-go and controller-runtime, encoded in the OpenMetrics text format.

mod client;

use std::{
    collections::BTreeMap,
    fmt,
    mem::discriminant,
    sync::{Arc, Weak, atomic::AtomicU64},
};

use parking_lot::Mutex;
pub use prometheus_client::metrics::{counter::Counter, histogram::Histogram};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text},
    metrics::gauge,
    registry::Registry,
};

pub use self::client::{ClientMetricsFuture, ClientMetricsLayer, ClientMetricsService, client_with_metrics};

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

/// A value that can increase and decrease.
pub type Gauge = gauge::Gauge<f64, AtomicU64>;

/// Owns metrics whose values change without an event.
pub trait Refresh: Send + Sync {
    /// Sets the metrics to their current values. Must be fast: a scrape waits for it.
    fn refresh(&self);
}

/// The maximum number of time series of one metric. Further label sets share one time series.
const MAX_SERIES: usize = 1000;

/// The value of all labels of the shared time series, as in controller-runtime.
const CARDINALITY_EXCEEDED: &str = "exceeded_cardinality_limit";

/// Collects metrics and encodes them as text. Clones share the time series.
///
/// Guarantees:
/// - metrics have the names of the Go libraries, `_total` and `_seconds` suffixes included, so that dashboards can be
///   reused;
/// - the same metric and labels return the same time series, from any clone;
/// - a metric has at most 1000 time series: further label sets share one whose labels are all
///   `exceeded_cardinality_limit`;
/// - a removed gauge is not encoded, and does not count towards the limit;
/// - ages, such as `workqueue_unfinished_work_seconds`, are current when the text is encoded;
/// - the order of the text is deterministic.
///
/// [`text`](Self::text) is the response body of a metrics endpoint, with the content type
/// [`CONTENT_TYPE`](Self::CONTENT_TYPE). A program with its own [`Registry`] registers a clone there as a collector.
/// All time series of a metric have one type; a request for a second type logs an error and discards the values.
///
/// ```
/// use kubewright_runtime::metrics::{Metric, Metrics};
///
/// let metrics = Metrics::default();
/// let visits = metrics.counter(Metric { name: "visits_total", help: "Visits." }, &[("page", "home")]);
/// visits.inc_by(2);
/// assert!(metrics.text().contains("visits_total{page=\"home\"} 2\n"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Families>>);

#[derive(Debug, Default)]
struct Families {
    by_name: BTreeMap<&'static str, Family>,
    refresh: Vec<Weak<dyn Refresh>>,
}

/// A metric with all its time series, which have one type.
#[derive(Debug)]
struct Family {
    help: &'static str,
    series: BTreeMap<LabelSet, TimeSeries>,
}

type LabelSet = Vec<(&'static str, String)>;

#[derive(Clone, Debug)]
enum TimeSeries {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Histogram),
}

impl Metrics {
    /// The content type of [`text`](Self::text).
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Returns the current values of all time series in the OpenMetrics text format.
    pub fn text(&self) -> String {
        let (mut registry, mut text) = (Registry::default(), String::new());
        registry.register_collector(Box::new(self.clone()));
        text::encode(&mut text, &registry).expect("writing to a string cannot fail");
        text
    }

    /// Returns a counter.
    #[must_use]
    pub fn counter(&self, metric: Metric, labels: Labels<'_>) -> Counter {
        match self.time_series(metric, labels, TimeSeries::Counter(Counter::default())) {
            Some(TimeSeries::Counter(counter)) => counter,
            _ => Counter::default(),
        }
    }

    /// Returns a gauge.
    #[must_use]
    pub fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Gauge {
        match self.time_series(metric, labels, TimeSeries::Gauge(Gauge::default())) {
            Some(TimeSeries::Gauge(gauge)) => gauge,
            _ => Gauge::default(),
        }
    }

    /// Returns a histogram, in seconds unless its name specifies another unit. The buckets are ascending upper bounds.
    #[must_use]
    pub fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Histogram {
        let new = || Histogram::new(buckets.iter().copied());
        match self.time_series(metric, labels, TimeSeries::Histogram(new())) {
            Some(TimeSeries::Histogram(histogram)) => histogram,
            _ => new(),
        }
    }

    /// Removes the gauge with these labels, such as that of a deleted object. A value that is set later on a gauge that
    /// was returned before is discarded.
    pub fn remove_gauge(&self, metric: Metric, labels: Labels<'_>) {
        let (mut families, labels) = (self.0.lock(), label_set(labels));
        let Some(family) = families.by_name.get_mut(metric.name) else { return };
        if matches!(family.series.get(&labels), Some(TimeSeries::Gauge(_))) {
            family.series.remove(&labels);
        }
    }

    /// Registers a callback that runs before each scrape for as long as it is alive, for values that change without an
    /// event, such as ages.
    pub fn register_refresh(&self, refresh: Weak<dyn Refresh>) {
        let mut families = self.0.lock();
        families.refresh.retain(|known| known.strong_count() > 0);
        families.refresh.push(refresh);
    }

    /// Returns the time series of these labels, creating it if needed; `None` if the metric has another type.
    fn time_series(&self, metric: Metric, labels: Labels<'_>, new: TimeSeries) -> Option<TimeSeries> {
        let mut families = self.0.lock();
        let family = families
            .by_name
            .entry(metric.name)
            .or_insert_with(|| Family { help: metric.help, series: BTreeMap::new() });
        let is_same = |series: &TimeSeries| discriminant(series) == discriminant(&new);
        if !family.series.values().next().is_none_or(is_same) {
            tracing::error!(metric = metric.name, "the metric exists with another type; its values are discarded");
            return None;
        }
        let exact = label_set(labels);
        let is_full = family.series.len() >= MAX_SERIES && !family.series.contains_key(&exact);
        let labels = match is_full {
            true => labels.iter().map(|(name, _)| (*name, CARDINALITY_EXCEEDED.to_owned())).collect(),
            false => exact,
        };
        Some(family.series.entry(labels).or_insert(new).clone())
    }
}

fn label_set(labels: Labels<'_>) -> LabelSet {
    labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// Converts a count to the value of a gauge or histogram; counts above [`u32::MAX`] saturate.
#[cfg(feature = "informers")]
pub(crate) fn count(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // A refresh can create time series, so it runs before the lock is taken.
        let refresh: Vec<_> = self.0.lock().refresh.iter().filter_map(Weak::upgrade).collect();
        refresh.iter().for_each(|refresh| refresh.refresh());
        let families = self.0.lock();
        families.by_name.iter().try_for_each(|(name, family)| family.encode(name, &mut encoder))
    }
}

impl Family {
    fn encode(&self, name: &str, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let Some(first) = self.series.values().next() else { return Ok(()) };
        let metric_type = first.metric().metric_type();
        // The encoder appends the suffix of a counter.
        let name = match first {
            TimeSeries::Counter(_) => name.strip_suffix("_total").unwrap_or(name),
            TimeSeries::Gauge(_) | TimeSeries::Histogram(_) => name,
        };
        let mut encoder = encoder.encode_descriptor(name, self.help, None, metric_type)?;
        self.series.iter().try_for_each(|(labels, series)| series.encode(labels, &mut encoder))
    }
}

impl TimeSeries {
    fn metric(&self) -> &dyn EncodeMetric {
        match self {
            TimeSeries::Counter(counter) => counter,
            TimeSeries::Gauge(gauge) => gauge,
            TimeSeries::Histogram(histogram) => histogram,
        }
    }

    fn encode(&self, labels: &LabelSet, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        self.metric().encode(encoder.encode_family(labels)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDS: Metric = Metric { name: "workqueue_adds_total", help: "Adds." };
    const DEPTH: Metric = Metric { name: "workqueue_depth", help: "Depth." };
    const WORK: Metric = Metric { name: "workqueue_work_duration_seconds", help: "Work." };

    #[test]
    fn metrics_have_the_names_of_go() {
        let metrics = Metrics::default();
        metrics.counter(ADDS, &[("name", "loggers")]).inc_by(3);
        metrics.gauge(DEPTH, &[("name", "loggers")]).set(2.0);
        metrics.histogram(WORK, &[("name", "loggers")], &[1e-8, 0.5]).observe(0.1);
        let expected = "# HELP workqueue_adds Adds.\n# TYPE workqueue_adds counter\n\
                        workqueue_adds_total{name=\"loggers\"} 3\n\
                        # HELP workqueue_depth Depth.\n# TYPE workqueue_depth gauge\n\
                        workqueue_depth{name=\"loggers\"} 2.0\n\
                        # HELP workqueue_work_duration_seconds Work.\n\
                        # TYPE workqueue_work_duration_seconds histogram\n\
                        workqueue_work_duration_seconds_sum{name=\"loggers\"} 0.1\n\
                        workqueue_work_duration_seconds_count{name=\"loggers\"} 1\n\
                        workqueue_work_duration_seconds_bucket{le=\"1e-8\",name=\"loggers\"} 0\n\
                        workqueue_work_duration_seconds_bucket{le=\"0.5\",name=\"loggers\"} 1\n\
                        workqueue_work_duration_seconds_bucket{le=\"+Inf\",name=\"loggers\"} 1\n# EOF\n";
        assert_eq!(metrics.text(), expected);
    }

    #[test]
    fn the_same_labels_return_the_same_time_series_from_any_clone() {
        let metrics = Metrics::default();
        metrics.counter(ADDS, &[("name", "a \"b\"")]).inc();
        metrics.clone().counter(ADDS, &[("name", "a \"b\"")]).inc();
        assert!(metrics.text().contains("workqueue_adds_total{name=\"a \\\"b\\\"\"} 2\n"), "{}", metrics.text());
    }

    #[test]
    fn labels_past_the_limit_share_one_time_series() {
        let metrics = Metrics::default();
        let count = |name: usize| {
            metrics.counter(ADDS, &[("name", &name.to_string())]).inc();
        };
        (0..MAX_SERIES + 500).chain([7]).for_each(count);
        let text = metrics.text();
        assert_eq!(text.lines().filter(|line| line.starts_with("workqueue_adds_total")).count(), MAX_SERIES + 1);
        assert!(text.contains("workqueue_adds_total{name=\"exceeded_cardinality_limit\"} 500\n"), "{text}");
        assert!(text.contains("workqueue_adds_total{name=\"7\"} 2\n"), "{text}");
    }

    #[test]
    fn a_removed_gauge_is_not_encoded_and_does_not_count_towards_the_limit() {
        let metrics = Metrics::default();
        let gauge = |name: usize| metrics.gauge(DEPTH, &[("name", &name.to_string())]);
        (0..MAX_SERIES).for_each(|name| _ = gauge(name).set(1.0));
        let removed = gauge(7);
        metrics.remove_gauge(DEPTH, &[("name", "7")]);
        metrics.remove_gauge(DEPTH, &[("name", "unknown")]);
        removed.set(2.0);
        gauge(MAX_SERIES).set(3.0);
        let text = metrics.text();
        assert!(!text.contains("name=\"7\""), "{text}");
        assert!(text.contains("workqueue_depth{name=\"8\"} 1.0\n"), "{text}");
        assert!(text.contains(&format!("workqueue_depth{{name=\"{MAX_SERIES}\"}} 3.0\n")), "{text}");
        assert!(!text.contains(CARDINALITY_EXCEEDED), "{text}");

        metrics.counter(ADDS, &[("name", "7")]).inc();
        metrics.remove_gauge(ADDS, &[("name", "7")]);
        assert!(metrics.text().contains("workqueue_adds_total{name=\"7\"} 1\n"), "a counter remains");
    }

    #[test]
    fn a_second_type_of_one_metric_is_discarded() {
        let metrics = Metrics::default();
        metrics.gauge(DEPTH, &[]).set(1.0);
        metrics.counter(DEPTH, &[]).inc_by(5);
        metrics.histogram(DEPTH, &[], &[]).observe(5.0);
        assert_eq!(
            metrics.text(),
            "# HELP workqueue_depth Depth.\n# TYPE workqueue_depth gauge\nworkqueue_depth{} 1.0\n# EOF\n"
        );
    }

    #[test]
    fn ages_are_refreshed_when_the_text_is_encoded_while_their_owner_is_alive() {
        struct Age(Gauge, Mutex<f64>);
        impl Refresh for Age {
            fn refresh(&self) {
                let mut age = self.1.lock();
                *age += 1.0;
                self.0.set(*age);
            }
        }
        let metrics = Metrics::default();
        let age = Arc::new(Age(metrics.gauge(DEPTH, &[]), Mutex::new(0.0)));
        let weak: Weak<dyn Refresh> = Arc::downgrade(&(Arc::clone(&age) as Arc<dyn Refresh>));
        metrics.register_refresh(weak);
        assert!(metrics.text().contains("workqueue_depth{} 1.0\n"));
        assert!(metrics.text().contains("workqueue_depth{} 2.0\n"));
        drop(age);
        assert!(metrics.text().contains("workqueue_depth{} 2.0\n"));
    }

    #[test]
    fn metrics_can_be_registered_as_a_collector() {
        let (metrics, mut registry) = (Metrics::default(), Registry::with_prefix("my"));
        registry.register_collector(Box::new(metrics.clone()));
        metrics.gauge(DEPTH, &[]).set(4.0);
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        assert!(text.contains("my_workqueue_depth{} 4.0\n"), "{text}");
    }
}
