//! The metrics of a queue, under the names of client-go.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

use kubewright_runtime::{
    metrics::{Counter, Gauge, Histogram, Labels, Metric, MetricsProvider, Refresh},
    workqueue::Config,
};

use super::*;

/// Records all values of all metrics.
#[derive(Clone, Default)]
struct RecordedMetrics(Arc<Mutex<BTreeMap<&'static str, Vec<f64>>>>, Arc<Mutex<Option<Weak<dyn Refresh>>>>);

impl std::fmt::Debug for RecordedMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordedMetrics")
    }
}

#[derive(Debug)]
struct Series(RecordedMetrics, &'static str);

impl Series {
    fn record(&self, value: f64) {
        self.0.0.lock().expect("an unpoisoned lock").entry(self.1).or_default().push(value);
    }
}

impl Counter for Series {
    fn add(&self, count: u64) {
        self.record(self.0.last(self.1) + count as f64);
    }
}

impl Gauge for Series {
    fn set(&self, value: f64) {
        self.record(value);
    }
}

impl Histogram for Series {
    fn observe(&self, value: f64) {
        self.record(value);
    }
}

impl MetricsProvider for RecordedMetrics {
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter> {
        self.series(metric, labels)
    }

    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge> {
        self.series(metric, labels)
    }

    fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Arc<dyn Histogram> {
        assert_eq!((buckets.len(), buckets[0], buckets[11]), (12, 1e-8, 1e3));
        self.series(metric, labels)
    }

    fn register_refresh(&self, refresh: Weak<dyn Refresh>) {
        *self.1.lock().expect("an unpoisoned lock") = Some(refresh);
    }
}

impl RecordedMetrics {
    fn series(&self, metric: Metric, labels: Labels<'_>) -> Arc<Series> {
        assert_eq!(labels, [("name", "loggers")]);
        self.0.lock().expect("an unpoisoned lock").insert(metric.name, Vec::new());
        Arc::new(Series(self.clone(), metric.name))
    }

    fn values(&self, name: &str) -> Vec<f64> {
        self.0.lock().expect("an unpoisoned lock")[name].clone()
    }

    fn last(&self, name: &str) -> f64 {
        self.values(name).last().copied().unwrap_or_default()
    }

    fn depth_and_adds(&self) -> (f64, f64) {
        (self.last("workqueue_depth"), self.last("workqueue_adds_total"))
    }
}

fn measured_queue() -> (Queue, RecordedMetrics) {
    let recorded = RecordedMetrics::default();
    let metrics: Option<Arc<dyn MetricsProvider>> = Some(Arc::new(recorded.clone()));
    (Queue::with_config(Config { name: "loggers".to_owned(), metrics, ..Config::default() }), recorded)
}

#[tokio::test(start_paused = true)]
async fn q16_the_names_are_those_of_client_go() {
    let (_queue, metrics) = measured_queue();
    let names: Vec<_> = metrics.0.lock().unwrap().keys().copied().collect();
    assert_eq!(
        names,
        [
            "workqueue_adds_total",
            "workqueue_depth",
            "workqueue_longest_running_processor_seconds",
            "workqueue_queue_duration_seconds",
            "workqueue_retries_total",
            "workqueue_unfinished_work_seconds",
            "workqueue_work_duration_seconds",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn q16_depth_counts_ready_and_requeued_keys_and_adds_counts_accepted_keys() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    queue.add("b");
    queue.add("a");
    assert_eq!(metrics.depth_and_adds(), (2.0, 2.0));
    let work = next(&queue).await;
    assert_eq!(metrics.depth_and_adds(), (1.0, 2.0));
    (0..5).for_each(|_| queue.add("a"));
    assert_eq!(metrics.depth_and_adds(), (2.0, 3.0), "five adds while it is processed count once");
    drop(work);
    assert_eq!(metrics.depth_and_adds(), (2.0, 3.0), "the requeue was counted before");
    queue.add_after("c", SOON);
    assert_eq!(metrics.depth_and_adds(), (2.0, 3.0), "delayed keys are not counted");
    tokio::time::sleep(SOON).await;
    assert_eq!(queue.len(), 3);
    assert_eq!(metrics.depth_and_adds(), (3.0, 4.0));
    process_ready(&queue).await;
    queue.shut_down();
    queue.add("d");
    assert_eq!(metrics.depth_and_adds(), (0.0, 4.0));
}

#[tokio::test(start_paused = true)]
async fn q16_queue_duration_starts_at_the_first_accepted_add_and_work_duration_at_delivery() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    tokio::time::sleep(millis(50)).await;
    queue.add("a");
    tokio::time::sleep(millis(50)).await;
    let work = next(&queue).await;
    assert_eq!(metrics.values("workqueue_queue_duration_seconds"), [0.1]);
    tokio::time::sleep(millis(200)).await;
    queue.add("a");
    tokio::time::sleep(millis(100)).await;
    drop(work);
    assert_eq!(metrics.values("workqueue_work_duration_seconds"), [0.3]);
    drop(next(&queue).await);
    assert_eq!(metrics.values("workqueue_queue_duration_seconds"), [0.1, 0.1]);
    queue.add_after("b", seconds(1));
    tokio::time::sleep(seconds(3)).await;
    drop(next(&queue).await);
    assert_eq!(metrics.last("workqueue_queue_duration_seconds"), 2.0, "measured from the due time");
}

#[tokio::test(start_paused = true)]
async fn q16_retries_count_delayed_adds() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    assert_eq!(metrics.last("workqueue_retries_total"), 0.0);
    queue.add_after("a", SOON);
    queue.add_rate_limited("b");
    queue.add_at("c", tokio::time::Instant::now());
    assert_eq!(metrics.last("workqueue_retries_total"), 3.0);
    queue.shut_down();
    queue.add_after("d", SOON);
    assert_eq!(metrics.last("workqueue_retries_total"), 3.0);
}

#[tokio::test(start_paused = true)]
async fn q16_unfinished_work_is_the_sum_and_longest_running_the_maximum_of_the_ages() {
    let (queue, metrics) = measured_queue();
    let ages = || {
        (metrics.last("workqueue_unfinished_work_seconds"), metrics.last("workqueue_longest_running_processor_seconds"))
    };
    ["a", "b", "c"].into_iter().for_each(|key| queue.add(key));
    let a = next(&queue).await;
    tokio::time::sleep(seconds(2)).await;
    let b = next(&queue).await;
    assert_eq!(ages(), (2.0, 2.0));
    tokio::time::sleep(millis(499)).await;
    let c = next(&queue).await;
    assert_eq!(ages(), (2.0, 2.0), "not before half a second has passed");
    tokio::time::sleep(millis(501)).await;
    assert_eq!(ages(), (2.0, 2.0), "nor without a refresh");
    queue.refresh_metrics();
    let (unfinished, longest) = ages();
    assert!((unfinished - (3.0 + 1.0 + 0.501)).abs() < 1e-6 && longest == 3.0, "{unfinished} {longest}");
    drop(a);
    queue.refresh_metrics();
    assert_eq!(ages().1, 1.0, "the next oldest is the longest");
    drop((b, c));
    queue.refresh_metrics();
    assert_eq!(ages(), (0.0, 0.0));
}

#[tokio::test(start_paused = true)]
async fn q16_ages_are_refreshed_when_the_metrics_system_reads_them() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    let work = next(&queue).await;
    tokio::time::sleep(seconds(7)).await;
    let ages = metrics.1.lock().unwrap().take().unwrap();
    ages.upgrade().unwrap().refresh();
    assert_eq!(metrics.last("workqueue_longest_running_processor_seconds"), 7.0);
    drop((work, queue));
    assert!(ages.upgrade().is_none(), "metrics do not keep the queue alive");
}

#[tokio::test(start_paused = true)]
async fn q16_ages_are_not_reported_after_shutdown() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    let _work = next(&queue).await;
    queue.shut_down();
    tokio::time::sleep(seconds(3600)).await;
    queue.refresh_metrics();
    assert_eq!(metrics.last("workqueue_longest_running_processor_seconds"), 0.0);
}
