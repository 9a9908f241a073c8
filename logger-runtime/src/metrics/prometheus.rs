//! Metrics for Prometheus: every line under the name that Go dashboards ask for, as OpenMetrics text.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::discriminant;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text};
use prometheus_client::metrics::{counter, gauge, histogram};
use prometheus_client::registry::Registry;

use super::{Counter, Gauge, Histogram, Labels, Metric, Metrics, NoMetrics, Refresh};

/// So many lines one metric may have; what comes after shares one.
const MOST_LINES: usize = 1000;

/// The value of every label of the line that is shared, as controller-runtime calls it.
const TOO_MANY: &str = "exceeded_cardinality_limit";

/// Collects metrics and writes them as text. Cloning gives another handle on the same lines.
///
/// It promises:
/// - lines are called as they are called in Go, `_total` and `_seconds` included, so that dashboards carry over;
/// - asking for the same line again gives the same line, from any clone;
/// - a metric has 1000 lines at most: labels past that share one line, whose labels are all `exceeded_cardinality_limit`;
/// - ages, such as `workqueue_unfinished_work_seconds`, are what they are when the text is written;
/// - the text is in the same order each time.
///
/// [`text`](Self::text) is what an HTTP endpoint answers, with the content type
/// [`CONTENT_TYPE`](Self::CONTENT_TYPE). A program that has a [`Registry`] of its own registers a clone there as a
/// collector. One name has one type of metric; a second type measures nothing, and that is logged.
///
/// ```
/// use logger_runtime::metrics::{Metric, Metrics, PrometheusMetrics};
///
/// let metrics = PrometheusMetrics::default();
/// let visits = metrics.counter(Metric { name: "visits_total", help: "Visits." }, &[("page", "home")]);
/// visits.add(2);
/// assert!(metrics.text().contains("visits_total{page=\"home\"} 2\n"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct PrometheusMetrics(Arc<Mutex<Families>>);

#[derive(Debug, Default)]
struct Families {
    by_name: BTreeMap<&'static str, Family>,
    refresh: Vec<Weak<dyn Refresh>>,
}

/// A metric with all its lines. All are of one type.
#[derive(Debug)]
struct Family {
    help: &'static str,
    lines: BTreeMap<LabelSet, Line>,
}

type LabelSet = Vec<(&'static str, String)>;

#[derive(Clone, Debug)]
enum Line {
    Counter(counter::Counter),
    Gauge(gauge::Gauge<f64, AtomicU64>),
    Histogram(histogram::Histogram),
}

impl PrometheusMetrics {
    /// What [`text`](Self::text) is, for the HTTP header.
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// All lines as they are now, in the OpenMetrics text format.
    pub fn text(&self) -> String {
        let (mut registry, mut text) = (Registry::default(), String::new());
        registry.register_collector(Box::new(self.clone()));
        text::encode(&mut text, &registry).expect("a string takes all that is written to it");
        text
    }

    /// The line of these labels, made if it is not there; `None` if the metric is of another type.
    fn line(&self, metric: Metric, labels: Labels<'_>, new: Line) -> Option<Line> {
        let mut families = self.families();
        let family =
            families.by_name.entry(metric.name).or_insert_with(|| Family { help: metric.help, lines: BTreeMap::new() });
        let is_same = |line: &Line| discriminant(line) == discriminant(&new);
        if !family.lines.values().next().is_none_or(is_same) {
            tracing::error!(metric = metric.name, "is of another type already; what this one measures is lost");
            return None;
        }
        let exact: LabelSet = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let is_full = family.lines.len() >= MOST_LINES && !family.lines.contains_key(&exact);
        let labels = match is_full {
            true => labels.iter().map(|(name, _)| (*name, TOO_MANY.to_owned())).collect(),
            false => exact,
        };
        Some(family.lines.entry(labels).or_insert(new).clone())
    }

    /// Every step leaves whole lines, so a panic elsewhere does not spoil them.
    fn families(&self) -> MutexGuard<'_, Families> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Metrics for PrometheusMetrics {
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter> {
        match self.line(metric, labels, Line::Counter(counter::Counter::default())) {
            Some(Line::Counter(counter)) => Arc::new(counter),
            _ => Arc::new(NoMetrics),
        }
    }

    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge> {
        match self.line(metric, labels, Line::Gauge(gauge::Gauge::default())) {
            Some(Line::Gauge(gauge)) => Arc::new(gauge),
            _ => Arc::new(NoMetrics),
        }
    }

    fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Arc<dyn Histogram> {
        let new = histogram::Histogram::new(buckets.iter().copied());
        match self.line(metric, labels, Line::Histogram(new)) {
            Some(Line::Histogram(histogram)) => Arc::new(histogram),
            _ => Arc::new(NoMetrics),
        }
    }

    fn refresh_with(&self, refresh: Weak<dyn Refresh>) {
        let mut families = self.families();
        families.refresh.retain(|known| known.strong_count() > 0);
        families.refresh.push(refresh);
    }
}

impl Collector for PrometheusMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // Refreshing may ask for lines, so it comes before the lock.
        let refresh: Vec<_> = self.families().refresh.iter().filter_map(Weak::upgrade).collect();
        refresh.iter().for_each(|refresh| refresh.refresh());
        let families = self.families();
        families.by_name.iter().try_for_each(|(name, family)| family.encode(name, &mut encoder))
    }
}

impl Family {
    fn encode(&self, name: &str, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let Some(first) = self.lines.values().next() else { return Ok(()) };
        let metric_type = first.metric().metric_type();
        // The encoder adds what a counter's name ends in.
        let name = match first {
            Line::Counter(_) => name.strip_suffix("_total").unwrap_or(name),
            Line::Gauge(_) | Line::Histogram(_) => name,
        };
        let mut encoder = encoder.encode_descriptor(name, self.help, None, metric_type)?;
        self.lines.iter().try_for_each(|(labels, line)| line.encode(labels, &mut encoder))
    }
}

impl Line {
    fn metric(&self) -> &dyn EncodeMetric {
        match self {
            Line::Counter(counter) => counter,
            Line::Gauge(gauge) => gauge,
            Line::Histogram(histogram) => histogram,
        }
    }

    fn encode(&self, labels: &LabelSet, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        self.metric().encode(encoder.encode_family(labels)?)
    }
}

impl Counter for counter::Counter {
    fn add(&self, count: u64) {
        self.inc_by(count);
    }
}

impl Gauge for gauge::Gauge<f64, AtomicU64> {
    fn set(&self, value: f64) {
        gauge::Gauge::set(self, value);
    }
}

impl Histogram for histogram::Histogram {
    fn observe(&self, value: f64) {
        histogram::Histogram::observe(self, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDS: Metric = Metric { name: "workqueue_adds_total", help: "Adds." };
    const DEPTH: Metric = Metric { name: "workqueue_depth", help: "Depth." };
    const WORK: Metric = Metric { name: "workqueue_work_duration_seconds", help: "Work." };

    #[test]
    fn lines_are_called_as_they_are_in_go() {
        let metrics = PrometheusMetrics::default();
        metrics.counter(ADDS, &[("name", "loggers")]).add(3);
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
    fn the_same_line_is_the_same_from_any_clone() {
        let metrics = PrometheusMetrics::default();
        metrics.counter(ADDS, &[("name", "a \"b\"")]).add(1);
        metrics.clone().counter(ADDS, &[("name", "a \"b\"")]).add(1);
        assert!(metrics.text().contains("workqueue_adds_total{name=\"a \\\"b\\\"\"} 2\n"), "{}", metrics.text());
    }

    #[test]
    fn labels_past_the_limit_share_one_line() {
        let metrics = PrometheusMetrics::default();
        let count = |name: usize| metrics.counter(ADDS, &[("name", &name.to_string())]).add(1);
        (0..MOST_LINES + 500).chain([7]).for_each(count);
        let text = metrics.text();
        assert_eq!(text.lines().filter(|line| line.starts_with("workqueue_adds_total")).count(), MOST_LINES + 1);
        assert!(text.contains("workqueue_adds_total{name=\"exceeded_cardinality_limit\"} 500\n"), "{text}");
        assert!(text.contains("workqueue_adds_total{name=\"7\"} 2\n"), "{text}");
    }

    #[test]
    fn a_second_type_under_one_name_measures_nothing() {
        let metrics = PrometheusMetrics::default();
        metrics.gauge(DEPTH, &[]).set(1.0);
        metrics.counter(DEPTH, &[]).add(5);
        metrics.histogram(DEPTH, &[], &[]).observe(5.0);
        assert_eq!(
            metrics.text(),
            "# HELP workqueue_depth Depth.\n# TYPE workqueue_depth gauge\nworkqueue_depth{} 1.0\n# EOF\n"
        );
    }

    #[test]
    fn ages_are_refreshed_when_the_text_is_written_and_only_while_their_owner_lives() {
        struct Age(Arc<dyn Gauge>, Mutex<f64>);
        impl Refresh for Age {
            fn refresh(&self) {
                let mut age = self.1.lock().unwrap();
                *age += 1.0;
                self.0.set(*age);
            }
        }
        let metrics = PrometheusMetrics::default();
        let age = Arc::new(Age(metrics.gauge(DEPTH, &[]), Mutex::new(0.0)));
        let weak: Weak<dyn Refresh> = Arc::downgrade(&(Arc::clone(&age) as Arc<dyn Refresh>));
        metrics.refresh_with(weak);
        assert!(metrics.text().contains("workqueue_depth{} 1.0\n"));
        assert!(metrics.text().contains("workqueue_depth{} 2.0\n"));
        drop(age);
        assert!(metrics.text().contains("workqueue_depth{} 2.0\n"));
    }

    #[test]
    fn it_is_a_collector_of_a_registry_of_the_users() {
        let (metrics, mut registry) = (PrometheusMetrics::default(), Registry::with_prefix("my"));
        registry.register_collector(Box::new(metrics.clone()));
        metrics.gauge(DEPTH, &[]).set(4.0);
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        assert!(text.contains("my_workqueue_depth{} 4.0\n"), "{text}");
    }
}
