//! Shutdown and drain.

use std::num::NonZeroUsize;

use kubewright_runtime::workqueue::{AddError, Config, DelayedKeys, DrainReport};
use tokio::time::Instant;

use super::*;

async fn spawn_drain(queue: &Queue, delayed: DelayedKeys) -> JoinHandle<DrainReport<&'static str>> {
    let queue = queue.clone();
    spawn_and_poll(async move { queue.drain(delayed).await }).await
}

fn complete_drain(dropped: &[&'static str]) -> DrainReport<&'static str> {
    DrainReport { dropped: dropped.to_vec(), complete: true }
}

/// Returns the result of a task that must end within a second.
async fn join_soon<T>(task: JoinHandle<T>) -> T {
    timeout(SOON, task).await.expect("the task ends").expect("the task does not panic")
}

#[tokio::test(start_paused = true)]
async fn q05_after_shutdown_adds_are_ignored_and_ready_keys_are_delivered() {
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
        workers.push(spawn_and_poll(async move { queue.get().await.is_none() }).await);
    }
    queue.shut_down();
    for worker in workers {
        assert!(join_soon(worker).await);
    }
}

#[tokio::test(start_paused = true)]
async fn q05_a_worker_waits_for_a_requeued_key_even_after_shutdown() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.shut_down();
    let other = spawn_and_poll({
        let queue = queue.clone();
        async move { queue.get().await.map(|work| *work) }
    })
    .await;
    assert!(!other.is_finished());
    drop(work);
    assert_eq!(join_soon(other).await, Some("a"));
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn q05_a_key_that_became_due_before_shutdown_is_delivered_even_if_no_worker_waited() {
    let queue = Queue::new();
    queue.add_after("due", SOON);
    tokio::time::advance(2 * SOON).await;
    queue.add_after("later", SOON);
    queue.shut_down();
    assert_eq!(process_ready(&queue).await, ["due"]);
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn q06_shutdown_ends_a_drain() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let work = next(&queue).await;
    let drain = spawn_drain(&queue, DelayedKeys::Drop).await;
    tokio::time::sleep(seconds(3600)).await;
    assert!(!drain.is_finished());
    queue.shut_down();
    assert_eq!(join_soon(drain).await, DrainReport { dropped: vec![], complete: false });
    drop(work);
    assert_eq!(*next(&queue).await, "b", "ready keys are still delivered");
    assert_eq!(queue.drain(DelayedKeys::Drop).await, complete_drain(&[]), "a later drain waits again");
}

#[tokio::test(start_paused = true)]
async fn q07_a_drain_waits_for_keys_that_were_added_while_processed() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    let drain = spawn_drain(&queue, DelayedKeys::Drop).await;
    drop(work);
    let work = next(&queue).await;
    tokio::time::sleep(SOON).await;
    assert!(!drain.is_finished());
    drop(work);
    assert_eq!(join_soon(drain).await, complete_drain(&[]));
}

#[tokio::test(start_paused = true)]
async fn q20_a_drain_waits_for_ready_keys_even_if_none_is_processed() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let drain = spawn_drain(&queue, DelayedKeys::Drop).await;
    tokio::time::sleep(SOON).await;
    assert!(!drain.is_finished());
    assert_eq!(process_ready(&queue).await, ["a", "b"]);
    assert_eq!(join_soon(drain).await, complete_drain(&[]));
    assert_eq!(Queue::new().drain(DelayedKeys::Drop).await, complete_drain(&[]), "an empty queue is drained at once");
}

#[tokio::test(start_paused = true)]
async fn q21_a_drain_ends_for_all_its_waiters() {
    let queue = Queue::new();
    queue.add("a");
    let mut drains = Vec::new();
    for _ in 0..3 {
        drains.push(spawn_drain(&queue, DelayedKeys::Drop).await);
    }
    spawn_drain(&queue, DelayedKeys::Drop).await.abort();
    drop(next(&queue).await);
    for drain in drains {
        assert_eq!(join_soon(drain).await, complete_drain(&[]));
    }
}

#[tokio::test(start_paused = true)]
async fn q25_a_drain_drops_and_reports_delayed_keys() {
    let queue = Queue::new();
    queue.add("a");
    queue.add_after("later", seconds(20));
    queue.add_after("sooner", seconds(10));
    let work = next(&queue).await;
    queue.add_after("a", seconds(30));
    let drain = spawn_drain(&queue, DelayedKeys::Drop).await;
    drop(work);
    assert_eq!(join_soon(drain).await, complete_drain(&["sooner", "later", "a"]));
}

#[tokio::test(start_paused = true)]
async fn q25_a_flushing_drain_delivers_delayed_keys_now_in_due_order() {
    let queue = Queue::new();
    queue.add_after("later", seconds(20));
    queue.add_after("sooner", seconds(10));
    let start = Instant::now();
    let drain = spawn_drain(&queue, DelayedKeys::Flush).await;
    assert_eq!(process_ready(&queue).await, ["sooner", "later"]);
    assert_eq!((join_soon(drain).await, start.elapsed()), (complete_drain(&[]), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn q25_keys_that_fail_during_a_drain_are_reported_once() {
    let queue = Queue::new();
    queue.add("a");
    queue.add("b");
    let drain = spawn_drain(&queue, DelayedKeys::Flush).await;
    let (failing, succeeding) = (next(&queue).await, next(&queue).await);
    queue.add_rate_limited("a");
    queue.add_after("a", SOON);
    queue.add("b");
    drop((failing, succeeding));
    assert_eq!(join_soon(drain).await, complete_drain(&["a"]));
}

#[tokio::test(start_paused = true)]
async fn q26_shutdown_and_drain_can_be_repeated_in_any_order() {
    let queue = Queue::new();
    queue.add_after("a", SOON);
    queue.shut_down();
    queue.shut_down();
    assert_eq!(queue.drain(DelayedKeys::Flush).await, complete_drain(&["a"]), "the shutdown dropped it");
    assert_eq!(queue.drain(DelayedKeys::Drop).await, complete_drain(&["a"]));
    queue.shut_down();
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn try_add_is_rejected_when_the_queue_is_full_or_shut_down() {
    let capacity = NonZeroUsize::new(2);
    let queue = Queue::with_config(Config { capacity, ..Config::default() });
    assert_eq!(queue.try_add("a"), Ok(()));
    queue.add_after("b", SOON);
    assert_eq!(queue.try_add("a"), Ok(()), "the key is queued already");
    let error = queue.try_add("c").unwrap_err();
    assert_eq!(error, AddError::Full { capacity: capacity.unwrap() });
    assert!(error.to_string().contains("full: 2 keys"), "{error}");
    queue.add("d");
    drop(next(&queue).await);
    drop(next(&queue).await);
    assert_eq!(queue.try_add("c"), Ok(()), "below the capacity again; `add` ignores it");
    queue.shut_down();
    assert_eq!(queue.try_add("a"), Err(AddError::ShutDown));
}
