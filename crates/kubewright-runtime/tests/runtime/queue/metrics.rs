//! The metrics of a queue, under the names of client-go.

use kubewright_runtime::{
    metrics::{Metric, Metrics},
    workqueue::Config,
};

use super::*;
use crate::metrics::value;

const LABELS: &[(&str, &str)] = &[("name", "loggers")];

/// Reads the metrics of one queue.
struct QueueMetrics(Metrics);

impl QueueMetrics {
    /// Returns the value of a counter or gauge, which this does not refresh.
    fn last(&self, name: &'static str) -> f64 {
        let metric = Metric { name, help: "" };
        match name.ends_with("_total") {
            true => self.0.counter(metric, LABELS).get() as f64,
            false => self.0.gauge(metric, LABELS).get(),
        }
    }

    /// Returns the number of observations of a histogram, and their sum, rounded to milliseconds.
    fn observed(&self, name: &str) -> (f64, f64) {
        let part = |suffix: &str| value(&self.0, &format!("{name}_{suffix}{{name=\"loggers\"}}")).expect("a histogram");
        (part("count"), (part("sum") * 1e3).round() / 1e3)
    }

    fn depth_and_adds(&self) -> (f64, f64) {
        (self.last("workqueue_depth"), self.last("workqueue_adds_total"))
    }
}

fn measured_queue() -> (Queue, QueueMetrics) {
    let metrics = Metrics::default();
    let config = Config { name: "loggers".to_owned(), metrics: Some(metrics.clone()), ..Config::default() };
    (Queue::with_config(config), QueueMetrics(metrics))
}

#[tokio::test(start_paused = true)]
async fn q16_the_names_are_those_of_client_go() {
    let (_queue, metrics) = measured_queue();
    let text = metrics.0.text();
    let names: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(
        names,
        [
            "workqueue_adds counter",
            "workqueue_depth gauge",
            "workqueue_longest_running_processor_seconds gauge",
            "workqueue_queue_duration_seconds histogram",
            "workqueue_retries counter",
            "workqueue_unfinished_work_seconds gauge",
            "workqueue_work_duration_seconds histogram",
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
    assert_eq!(metrics.observed("workqueue_queue_duration_seconds"), (1.0, 0.1));
    tokio::time::sleep(millis(200)).await;
    queue.add("a");
    tokio::time::sleep(millis(100)).await;
    drop(work);
    assert_eq!(metrics.observed("workqueue_work_duration_seconds"), (1.0, 0.3));
    drop(next(&queue).await);
    assert_eq!(metrics.observed("workqueue_queue_duration_seconds"), (2.0, 0.2));
    queue.add_after("b", seconds(1));
    tokio::time::sleep(seconds(3)).await;
    drop(next(&queue).await);
    assert_eq!(metrics.observed("workqueue_queue_duration_seconds"), (3.0, 2.2), "measured from the due time");
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
    metrics.0.text();
    let (unfinished, longest) = ages();
    assert!((unfinished - (3.0 + 1.0 + 0.501)).abs() < 1e-6 && longest == 3.0, "{unfinished} {longest}");
    drop(a);
    metrics.0.text();
    assert_eq!(ages().1, 1.0, "the next oldest is the longest");
    drop((b, c));
    metrics.0.text();
    assert_eq!(ages(), (0.0, 0.0));
}

#[tokio::test(start_paused = true)]
async fn q16_ages_are_refreshed_when_the_metrics_system_reads_them() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    let work = next(&queue).await;
    tokio::time::sleep(seconds(7)).await;
    let longest = "workqueue_longest_running_processor_seconds{name=\"loggers\"}";
    assert_eq!(value(&metrics.0, longest), Some(7.0));
    drop((work, queue));
    tokio::time::sleep(seconds(7)).await;
    assert_eq!(value(&metrics.0, longest), Some(7.0), "metrics do not keep the queue alive");
}

#[tokio::test(start_paused = true)]
async fn q16_ages_are_not_reported_after_shutdown() {
    let (queue, metrics) = measured_queue();
    queue.add("a");
    let _work = next(&queue).await;
    queue.shut_down();
    tokio::time::sleep(seconds(3600)).await;
    metrics.0.text();
    assert_eq!(metrics.last("workqueue_longest_running_processor_seconds"), 0.0);
}
