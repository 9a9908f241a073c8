//! Each key once, in turn, and with one worker at a time.

use std::sync::Arc;

use super::*;

#[tokio::test(start_paused = true)]
async fn q01_a_key_that_waits_is_there_once_however_often_it_is_added() {
    let queue = Queue::new();
    for _ in 0..5 {
        queue.add("a");
        assert_eq!(queue.len(), 1);
    }
    drop(next(&queue).await);
    nothing_comes(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn q02_a_key_is_never_with_two_workers_at_once() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.add_after("a", millis(1));
    assert_eq!(queue.len(), 0, "it does not wait");
    nothing_comes(&queue).await;
    drop(work);
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn q03_adds_while_processing_give_one_more_delivery() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    let other = begun({
        let queue = queue.clone();
        async move { queue.get().await.map(|work| *work) }
    })
    .await;
    (0..3).for_each(|_| queue.add("a"));
    tokio::time::sleep(SOON).await;
    assert!(!other.is_finished(), "not before the work is done");
    drop(work);
    assert_eq!(other.await.unwrap(), Some("a"));
    nothing_comes(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn q04_keys_come_in_the_order_they_were_added_and_one_added_at_work_joins_the_end() {
    let queue = Queue::new();
    ["a", "b", "a", "c"].into_iter().for_each(|key| queue.add(key));
    let work = next(&queue).await;
    assert_eq!(*work, "a");
    queue.add("a");
    queue.add("d");
    drop(work);
    assert_eq!(all(&queue).await, ["b", "c", "d", "a"]);
}

#[tokio::test(start_paused = true)]
async fn q08_a_key_is_not_kept_alive_once_its_work_is_done() {
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
async fn q22_work_ends_when_its_guard_is_dropped_also_by_a_panic() {
    let queue = Queue::new();
    queue.add("a");
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move {
            let _work = queue.get().await;
            queue.add("a");
            panic!("the worker fails");
        }
    });
    assert!(worker.await.is_err());
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn q22_work_ends_when_its_task_is_cancelled() {
    let queue = Queue::new();
    queue.add("a");
    let worker = begun({
        let queue = queue.clone();
        async move {
            let _work = queue.get().await;
            std::future::pending::<()>().await;
        }
    })
    .await;
    queue.add("a");
    nothing_comes(&queue).await;
    worker.abort();
    assert_eq!(*next(&queue).await, "a");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_cancelled_loses_nothing_also_after_it_was_woken() {
    for cancelled in [0, 1] {
        let queue = Queue::new();
        let mut waits = vec![begun_get(&queue).await, begun_get(&queue).await];
        // One is woken for the key and does not run before one is cancelled: whichever it is, the other gets the key.
        queue.add("a");
        waits.remove(cancelled).abort();
        assert_eq!(timeout(SOON, waits.remove(0)).await.expect("it is woken").unwrap(), Some("a"));
    }
}

async fn begun_get(queue: &Queue) -> JoinHandle<Option<&'static str>> {
    let queue = queue.clone();
    begun(async move { queue.get().await.map(|work| *work) }).await
}

#[tokio::test(start_paused = true)]
async fn many_keys_at_once_wake_as_many_workers() {
    let queue = Queue::new();
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(begun_get(&queue).await);
    }
    queue.add_all(["a", "b", "a", "c"], Default::default());
    tokio::time::sleep(SOON).await;
    assert_eq!(workers.iter().filter(|worker| worker.is_finished()).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_never_waits_lets_others_run() {
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
