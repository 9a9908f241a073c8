//! What a queue measures, under the names of client-go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use logger_runtime::metrics::{Counter, Gauge, Histogram, Labels, Metric, Metrics, Refresh};
use logger_runtime::workqueue::Config;

use super::*;

/// Remembers everything.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeMap<&'static str, Vec<f64>>>>, Arc<Mutex<Option<Weak<dyn Refresh>>>>);

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

#[derive(Debug)]
struct Line(Seen, &'static str);

impl Line {
    fn note(&self, value: f64) {
        self.0.0.lock().expect("no test panics here").entry(self.1).or_default().push(value);
    }
}

impl Counter for Line {
    fn add(&self, count: u64) {
        self.note(self.0.last(self.1) + count as f64);
    }
}

impl Gauge for Line {
    fn set(&self, value: f64) {
        self.note(value);
    }
}

impl Histogram for Line {
    fn observe(&self, value: f64) {
        self.note(value);
    }
}

impl Metrics for Seen {
    fn counter(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Counter> {
        self.line(metric, labels)
    }

    fn gauge(&self, metric: Metric, labels: Labels<'_>) -> Arc<dyn Gauge> {
        self.line(metric, labels)
    }

    fn histogram(&self, metric: Metric, labels: Labels<'_>, buckets: &'static [f64]) -> Arc<dyn Histogram> {
        assert_eq!((buckets.len(), buckets[0], buckets[11]), (12, 1e-8, 1e3));
        self.line(metric, labels)
    }

    fn refresh_with(&self, refresh: Weak<dyn Refresh>) {
        *self.1.lock().expect("no test panics here") = Some(refresh);
    }
}

impl Seen {
    fn line(&self, metric: Metric, labels: Labels<'_>) -> Arc<Line> {
        assert_eq!(labels, [("name", "loggers")]);
        self.0.lock().expect("no test panics here").insert(metric.name, Vec::new());
        Arc::new(Line(self.clone(), metric.name))
    }

    fn of(&self, name: &str) -> Vec<f64> {
        self.0.lock().expect("no test panics here")[name].clone()
    }

    fn last(&self, name: &str) -> f64 {
        self.of(name).last().copied().unwrap_or_default()
    }

    fn depth_and_adds(&self) -> (f64, f64) {
        (self.last("workqueue_depth"), self.last("workqueue_adds_total"))
    }
}

fn measured() -> (Queue, Seen) {
    let seen = Seen::default();
    let metrics: Option<Arc<dyn Metrics>> = Some(Arc::new(seen.clone()));
    (Queue::with_config(Config { name: "loggers".to_owned(), metrics, ..Config::default() }), seen)
}

#[tokio::test(start_paused = true)]
async fn q16_the_names_are_those_of_client_go() {
    let (_queue, seen) = measured();
    let names: Vec<_> = seen.0.lock().unwrap().keys().copied().collect();
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
async fn q16_depth_counts_what_waits_and_what_comes_again_and_adds_count_what_was_accepted() {
    let (queue, seen) = measured();
    queue.add("a");
    queue.add("b");
    queue.add("a");
    assert_eq!(seen.depth_and_adds(), (2.0, 2.0));
    let work = next(&queue).await;
    assert_eq!(seen.depth_and_adds(), (1.0, 2.0));
    (0..5).for_each(|_| queue.add("a"));
    assert_eq!(seen.depth_and_adds(), (2.0, 3.0), "five adds while it is at work are one");
    drop(work);
    assert_eq!(seen.depth_and_adds(), (2.0, 3.0), "it was counted before");
    queue.add_after("c", SOON);
    assert_eq!(seen.depth_and_adds(), (2.0, 3.0), "what is not due does not wait");
    tokio::time::sleep(SOON).await;
    assert_eq!(queue.len(), 3);
    assert_eq!(seen.depth_and_adds(), (3.0, 4.0));
    all(&queue).await;
    queue.shut_down();
    queue.add("d");
    assert_eq!(seen.depth_and_adds(), (0.0, 4.0));
}

#[tokio::test(start_paused = true)]
async fn q16_waiting_is_from_the_first_add_that_was_accepted_and_work_from_then_to_its_end() {
    let (queue, seen) = measured();
    queue.add("a");
    tokio::time::sleep(millis(50)).await;
    queue.add("a");
    tokio::time::sleep(millis(50)).await;
    let work = next(&queue).await;
    assert_eq!(seen.of("workqueue_queue_duration_seconds"), [0.1]);
    tokio::time::sleep(millis(200)).await;
    queue.add("a");
    tokio::time::sleep(millis(100)).await;
    drop(work);
    assert_eq!(seen.of("workqueue_work_duration_seconds"), [0.3]);
    drop(next(&queue).await);
    assert_eq!(seen.of("workqueue_queue_duration_seconds"), [0.1, 0.1]);
    queue.add_after("b", seconds(1));
    tokio::time::sleep(seconds(3)).await;
    drop(next(&queue).await);
    assert_eq!(seen.last("workqueue_queue_duration_seconds"), 2.0, "from when it was due");
}

#[tokio::test(start_paused = true)]
async fn q16_retries_are_adds_with_a_delay() {
    let (queue, seen) = measured();
    queue.add("a");
    assert_eq!(seen.last("workqueue_retries_total"), 0.0);
    queue.add_after("a", SOON);
    queue.add_rate_limited("b");
    queue.add_at("c", tokio::time::Instant::now());
    assert_eq!(seen.last("workqueue_retries_total"), 3.0);
    queue.shut_down();
    queue.add_after("d", SOON);
    assert_eq!(seen.last("workqueue_retries_total"), 3.0);
}

#[tokio::test(start_paused = true)]
async fn q16_unfinished_work_is_the_sum_and_the_longest_running_the_most_of_the_ages_each_half_second() {
    let (queue, seen) = measured();
    let ages =
        || (seen.last("workqueue_unfinished_work_seconds"), seen.last("workqueue_longest_running_processor_seconds"));
    ["a", "b", "c"].into_iter().for_each(|key| queue.add(key));
    let a = next(&queue).await;
    tokio::time::sleep(seconds(2)).await;
    let b = next(&queue).await;
    assert_eq!(ages(), (2.0, 2.0));
    tokio::time::sleep(millis(499)).await;
    let c = next(&queue).await;
    assert_eq!(ages(), (2.0, 2.0), "not before half a second is over");
    tokio::time::sleep(millis(501)).await;
    assert_eq!(ages(), (2.0, 2.0), "nor without being asked");
    queue.refresh_metrics();
    let (unfinished, longest) = ages();
    assert!((unfinished - (3.0 + 1.0 + 0.501)).abs() < 1e-6 && longest == 3.0, "{unfinished} {longest}");
    drop(a);
    queue.refresh_metrics();
    assert_eq!(ages().1, 1.0, "then the next is the longest");
    drop((b, c));
    queue.refresh_metrics();
    assert_eq!(ages(), (0.0, 0.0));
}

#[tokio::test(start_paused = true)]
async fn q16_ages_are_as_of_when_they_are_read_where_the_metrics_system_tells() {
    let (queue, seen) = measured();
    queue.add("a");
    let work = next(&queue).await;
    tokio::time::sleep(seconds(7)).await;
    let ages = seen.1.lock().unwrap().take().unwrap();
    ages.upgrade().unwrap().refresh();
    assert_eq!(seen.last("workqueue_longest_running_processor_seconds"), 7.0);
    drop((work, queue));
    assert!(ages.upgrade().is_none(), "metrics keep no queue alive");
}

#[tokio::test(start_paused = true)]
async fn q16_after_shutdown_ages_are_not_told_any_more() {
    let (queue, seen) = measured();
    queue.add("a");
    let _work = next(&queue).await;
    queue.shut_down();
    tokio::time::sleep(seconds(3600)).await;
    queue.refresh_metrics();
    assert_eq!(seen.last("workqueue_longest_running_processor_seconds"), 0.0);
}
