//! How a queue ends.

use std::num::NonZeroUsize;

use logger_runtime::workqueue::{Config, Delayed, Drained, Refused};
use tokio::time::Instant;

use super::*;

async fn draining(queue: &Queue, delayed: Delayed) -> JoinHandle<Drained<&'static str>> {
    let queue = queue.clone();
    begun(async move { queue.drain(delayed).await }).await
}

fn drained(dropped: &[&'static str]) -> Drained<&'static str> {
    Drained { dropped: dropped.to_vec(), complete: true }
}

async fn soon<T>(task: JoinHandle<T>) -> T {
    timeout(SOON, task).await.expect("it ends").expect("it does not panic")
}

#[tokio::test(start_paused = true)]
async fn q05_after_shutdown_adds_are_ignored_and_what_waits_is_given_out_and_then_none() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    queue.shut_down();
    queue.add("c");
    queue.add_after("d", millis(1));
    assert!(queue.is_shut_down());
    assert_eq!(*next(&queue).await, "a");
    assert_eq!(*next(&queue).await, "b");
    assert!(queue.get().await.is_none());
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn q05_shutdown_wakes_all_workers() {
    let queue = Queue::new();
    let mut workers = Vec::new();
    for _ in 0..5 {
        let queue = queue.clone();
        workers.push(begun(async move { queue.get().await.is_none() }).await);
    }
    queue.shut_down();
    for worker in workers {
        assert!(soon(worker).await);
    }
}

#[tokio::test(start_paused = true)]
async fn q05_a_worker_waits_for_a_key_that_will_come_again_also_after_shutdown() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.shut_down();
    let other = begun({
        let queue = queue.clone();
        async move { queue.get().await.map(|work| *work) }
    })
    .await;
    assert!(!other.is_finished());
    drop(work);
    assert_eq!(soon(other).await, Some("a"));
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn q05_a_key_that_became_due_before_shutdown_is_given_out_also_if_no_worker_looked() {
    let queue = Queue::new();
    queue.add_after("due", SOON);
    tokio::time::advance(2 * SOON).await;
    queue.add_after("later", SOON);
    queue.shut_down();
    assert_eq!(all(&queue).await, ["due"]);
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn q06_shutdown_ends_a_drain() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let work = next(&queue).await;
    let drain = draining(&queue, Delayed::Drop).await;
    tokio::time::sleep(seconds(3600)).await;
    assert!(!drain.is_finished());
    queue.shut_down();
    assert_eq!(soon(drain).await, Drained { dropped: vec![], complete: false });
    drop(work);
    assert_eq!(*next(&queue).await, "b", "what waits is given out all the same");
    assert_eq!(queue.drain(Delayed::Drop).await, drained(&[]), "a later drain waits anew");
}

#[tokio::test(start_paused = true)]
async fn q07_a_drain_waits_for_a_key_that_was_added_at_work_to_be_worked_on_again() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    let drain = draining(&queue, Delayed::Drop).await;
    drop(work);
    let work = next(&queue).await;
    tokio::time::sleep(SOON).await;
    assert!(!drain.is_finished());
    drop(work);
    assert_eq!(soon(drain).await, drained(&[]));
}

#[tokio::test(start_paused = true)]
async fn q20_a_drain_waits_for_what_waits_also_if_nothing_is_at_work() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let drain = draining(&queue, Delayed::Drop).await;
    tokio::time::sleep(SOON).await;
    assert!(!drain.is_finished());
    assert_eq!(all(&queue).await, ["a", "b"]);
    assert_eq!(soon(drain).await, drained(&[]));
    assert_eq!(Queue::new().drain(Delayed::Drop).await, drained(&[]), "an empty queue is drained at once");
}

#[tokio::test(start_paused = true)]
async fn q21_a_drain_ends_for_all_who_wait_for_it() {
    let queue = Queue::new();
    queue.add("a");
    let mut drains = Vec::new();
    for _ in 0..3 {
        drains.push(draining(&queue, Delayed::Drop).await);
    }
    draining(&queue, Delayed::Drop).await.abort();
    drop(next(&queue).await);
    for drain in drains {
        assert_eq!(soon(drain).await, drained(&[]));
    }
}

#[tokio::test(start_paused = true)]
async fn q25_a_drain_drops_what_is_not_due_and_reports_it() {
    let queue = Queue::new();
    queue.add("a");
    queue.add_after("later", seconds(20));
    queue.add_after("sooner", seconds(10));
    let work = next(&queue).await;
    queue.add_after("a", seconds(30));
    let drain = draining(&queue, Delayed::Drop).await;
    drop(work);
    assert_eq!(soon(drain).await, drained(&["sooner", "later", "a"]));
}

#[tokio::test(start_paused = true)]
async fn q25_or_has_it_worked_on_now_in_the_order_it_is_due() {
    let queue = Queue::new();
    queue.add_after("later", seconds(20));
    queue.add_after("sooner", seconds(10));
    let start = Instant::now();
    let drain = draining(&queue, Delayed::Flush).await;
    assert_eq!(all(&queue).await, ["sooner", "later"]);
    assert_eq!((soon(drain).await, start.elapsed()), (drained(&[]), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn q25_work_that_fails_during_a_drain_is_reported_once() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let drain = draining(&queue, Delayed::Flush).await;
    let (failing, succeeding) = (next(&queue).await, next(&queue).await);
    queue.add_rate_limited("a");
    queue.add_after("a", SOON);
    queue.add("b");
    drop((failing, succeeding));
    assert_eq!(soon(drain).await, drained(&["a"]));
}

#[tokio::test(start_paused = true)]
async fn q26_shutdown_and_drain_may_come_more_than_once_and_in_any_order() {
    let queue = Queue::new();
    queue.add_after("a", SOON);
    queue.shut_down();
    queue.shut_down();
    assert_eq!(queue.drain(Delayed::Flush).await, drained(&["a"]), "it was dropped before");
    assert_eq!(queue.drain(Delayed::Drop).await, drained(&["a"]));
    queue.shut_down();
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn keys_from_outside_are_refused_when_the_queue_is_full_or_shut_down() {
    let capacity = NonZeroUsize::new(2);
    let queue = Queue::with_config(Config { capacity, ..Config::default() });
    assert_eq!(queue.try_add("a"), Ok(()));
    queue.add_after("b", SOON);
    assert_eq!(queue.try_add("a"), Ok(()), "it is there");
    let refused = queue.try_add("c").unwrap_err();
    assert_eq!(refused, Refused::Full { capacity: capacity.unwrap() });
    assert!(refused.to_string().contains("full: 2 keys"), "{refused}");
    queue.add("d");
    drop(next(&queue).await);
    drop(next(&queue).await);
    assert_eq!(queue.try_add("c"), Ok(()), "one is gone, and `add` is not counted against");
    queue.shut_down();
    assert_eq!(queue.try_add("a"), Err(Refused::ShutDown));
}
