//! Deduplication, order, and no concurrent processing of a key.

use std::sync::Arc;

use super::*;

#[tokio::test(start_paused = true)]
async fn q01_a_ready_key_is_queued_once_however_often_it_is_added() {
    let queue = Queue::new();
    for _ in 0..5 {
        queue.add("a");
        assert_eq!(queue.len(), 1);
    }
    drop(next(&queue).await);
    assert_idle(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn q02_a_key_is_never_processed_concurrently() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.add_after("a", millis(1));
    assert_eq!(queue.len(), 0, "it is not ready while it is processed");
    assert_idle(&queue).await;
    drop(work);
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn q03_adds_while_processing_give_one_more_delivery() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    let other = spawn_and_poll({
        let queue = queue.clone();
        async move { queue.get().await.map(|work| *work) }
    })
    .await;
    (0..3).for_each(|_| queue.add("a"));
    tokio::time::sleep(SOON).await;
    assert!(!other.is_finished(), "not before the processing ends");
    drop(work);
    assert_eq!(other.await.unwrap(), Some("a"));
    assert_idle(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn q04_keys_are_delivered_in_order_and_a_key_added_while_processed_joins_the_end() {
    let queue = Queue::new();
    ["a", "b", "a", "c"].into_iter().for_each(|key| queue.add(key));
    let work = next(&queue).await;
    assert_eq!(*work, "a");
    queue.add("a");
    queue.add("d");
    drop(work);
    assert_eq!(process_ready(&queue).await, ["b", "c", "d", "a"]);
}

#[tokio::test(start_paused = true)]
async fn q08_the_queue_drops_a_key_after_its_processing() {
    let queue = WorkQueue::new();
    let key = Arc::new("a");
    queue.add(key.clone());
    queue.add_after(key.clone(), SOON);
    drop(queue.get().await);
    assert_eq!(Arc::strong_count(&key), 1);
    queue.add_after(key.clone(), SOON);
    queue.shut_down();
    queue.drain(Default::default()).await;
    drop(queue);
    assert_eq!(Arc::strong_count(&key), 1);
}

#[tokio::test(start_paused = true)]
async fn q22_processing_ends_when_the_guard_is_dropped_even_by_a_panic() {
    let queue = Queue::new();
    queue.add("a");
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move {
            let _work = queue.get().await;
            queue.add("a");
            panic!("failed");
        }
    });
    assert!(worker.await.is_err());
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn q22_processing_ends_when_its_task_is_cancelled() {
    let queue = Queue::new();
    queue.add("a");
    let worker = spawn_and_poll({
        let queue = queue.clone();
        async move {
            let _work = queue.get().await;
            std::future::pending::<()>().await;
        }
    })
    .await;
    queue.add("a");
    assert_idle(&queue).await;
    worker.abort();
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_loses_no_key_even_after_it_was_woken() {
    for cancelled in [0, 1] {
        let queue = Queue::new();
        let mut waits = vec![spawn_get(&queue).await, spawn_get(&queue).await];
        // One waiter is woken for the key but does not run before one is cancelled: the other gets the key in both
        // cases.
        queue.add("a");
        waits.remove(cancelled).abort();
        assert_eq!(timeout(SOON, waits.remove(0)).await.expect("the other waiter is woken").unwrap(), Some("a"));
    }
}

async fn spawn_get(queue: &Queue) -> JoinHandle<Option<&'static str>> {
    let queue = queue.clone();
    spawn_and_poll(async move { queue.get().await.map(|work| *work) }).await
}

#[tokio::test(start_paused = true)]
async fn adding_many_keys_wakes_as_many_workers() {
    let queue = Queue::new();
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(spawn_get(&queue).await);
    }
    ["a", "b", "a", "c"].into_iter().for_each(|key| queue.add(key));
    tokio::time::sleep(SOON).await;
    assert_eq!(workers.iter().filter(|worker| worker.is_finished()).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_never_waits_yields_to_other_tasks() {
    let queue = Queue::new();
    queue.add("a");
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move {
            while let Some(work) = queue.get().await {
                queue.add(*work);
            }
        }
    });
    // On one thread, this runs only if the worker yields.
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());
}
