//! Back-off of keys whose processing failed.

use kubewright_runtime::workqueue::{AddOptions, Config, rate_limit::ExponentialBackoff};
use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn the_back_off_grows_until_the_key_is_forgotten() {
    let queue = Queue::new();
    queue.add("a");
    let mut work = next(&queue).await;
    for expected in [5, 10, 20] {
        let start = Instant::now();
        queue.add_rate_limited("a");
        drop(work);
        work = next(&queue).await;
        assert_eq!(start.elapsed(), millis(expected));
    }
    assert_eq!(queue.num_requeues(&"a"), 3);
    queue.forget(&"a");
    assert_eq!(queue.num_requeues(&"a"), 0);
}

#[tokio::test(start_paused = true)]
async fn q24_failures_of_events_during_a_back_off_count_once() {
    let queue = Queue::new();
    for _ in 0..18 {
        queue.add("a");
        let work = next(&queue).await;
        queue.add_rate_limited("a");
        drop(work);
    }
    assert_eq!(queue.num_requeues(&"a"), 1);
    let start = Instant::now();
    drop(queue.get().await);
    assert_eq!(start.elapsed(), millis(5), "the retry is due when it would be without the events");
}

#[tokio::test(start_paused = true)]
async fn q24_failed_retries_count_each_and_events_once_per_back_off() {
    let queue = Queue::with_config(Config {
        rate_limiter: Box::new(ExponentialBackoff::new(seconds(1), seconds(1000))),
        ..Config::default()
    });
    let start = Instant::now();
    queue.add("a");
    // An event arrives every 100 ms, retries when they are due; every run fails.
    while start.elapsed() < seconds(31) {
        match timeout(millis(100), queue.get()).await {
            Ok(work) => queue.add_rate_limited(*work.unwrap()),
            Err(_) => queue.add("a"),
        }
    }
    assert_eq!(queue.num_requeues(&"a"), 6, "at 0, 1, 3, 7, 15 and 31 s, as without events");
}

#[tokio::test(start_paused = true)]
async fn q24_a_success_ends_the_back_off() {
    let queue = Queue::with_config(Config {
        rate_limiter: Box::new(ExponentialBackoff::new(seconds(100), seconds(1000))),
        ..Config::default()
    });
    queue.add("a");
    let work = next(&queue).await;
    queue.add_rate_limited("a");
    drop(work);
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.forget(&"a");
    drop(work);
    let work = next(&queue).await;
    let start = Instant::now();
    queue.add_rate_limited("a");
    assert_eq!(queue.num_requeues(&"a"), 1);
    drop(work);
    drop(queue.get().await);
    assert_eq!(start.elapsed(), seconds(100), "a new back-off, not the rest of the first");
}

#[tokio::test(start_paused = true)]
async fn q24_requests_outside_of_processing_count_each() {
    let queue = Queue::new();
    (0..3).for_each(|_| queue.add_rate_limited("a"));
    assert_eq!(queue.num_requeues(&"a"), 3);
    let start = Instant::now();
    drop(queue.get().await);
    assert_eq!(start.elapsed(), millis(5), "the earliest counts");
}

#[tokio::test(start_paused = true)]
async fn q28_a_forgotten_key_restarts_at_the_shortest_delay() {
    let queue = Queue::new();
    queue.add("a");
    for _ in 0..10 {
        let work = queue.get().await.unwrap();
        queue.add_rate_limited(*work);
    }
    let work = queue.get().await;
    queue.forget(&"a");
    drop(work);
    queue.add("a");
    let work = next(&queue).await;
    let start = Instant::now();
    queue.add_rate_limited("a");
    drop(work);
    drop(queue.get().await);
    assert_eq!(start.elapsed(), millis(5));
}

#[tokio::test(start_paused = true)]
async fn a_delay_and_a_rate_limit_combine_to_the_sooner_one() {
    let start = Instant::now();
    let queue = Queue::new();
    let options = AddOptions { after: Some(millis(2)), rate_limited: true, ..AddOptions::default() };
    queue.add_with("a", options);
    drop(queue.get().await);
    assert_eq!((start.elapsed(), queue.num_requeues(&"a")), (millis(2), 1));
}
