//! The promises of the queue, by name. The clock is paused: time passes only where a test waits for it.

use tokio::time::timeout;

use super::*;

const SOON: Duration = Duration::from_secs(1);

async fn next(queue: &WorkQueue<&'static str>) -> Work<&'static str> {
    timeout(SOON, queue.get()).await.expect("a key is ready").expect("the queue is not shut down")
}

async fn nothing_comes(queue: &WorkQueue<&'static str>) {
    assert!(timeout(SOON, queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_key_that_waits_is_there_once() {
    let queue = WorkQueue::new();
    (0..5).for_each(|_| queue.add("a"));
    assert_eq!(queue.len(), 1);
    assert_eq!(*next(&queue).await, "a");
    nothing_comes(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_is_never_at_work_twice_and_comes_once_more_after() {
    let queue = WorkQueue::new();
    queue.add("a");
    let work = next(&queue).await;
    (0..3).for_each(|_| queue.add("a"));
    nothing_comes(&queue).await;
    drop(work);
    drop(next(&queue).await);
    nothing_comes(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn keys_come_in_the_order_they_were_added() {
    let queue = WorkQueue::new();
    ["a", "b", "a", "c"].into_iter().for_each(|key| queue.add(key));
    for expected in ["a", "b", "c"] {
        assert_eq!(*next(&queue).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_delays_the_earliest_counts() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    for delay in [30, 10, 20] {
        queue.add_after("a", Duration::from_secs(delay));
    }
    assert_eq!(*queue.get().await.unwrap(), "a");
    assert_eq!(start.elapsed().as_secs(), 10);
    assert!(timeout(Duration::from_secs(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn delayed_keys_come_when_they_are_due() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    for (key, delay) in [("c", 3), ("a", 1), ("b", 2)] {
        queue.add_after(key, Duration::from_secs(delay));
    }
    for (expected, at) in [("a", 1), ("b", 2), ("c", 3)] {
        assert_eq!(*queue.get().await.unwrap(), expected);
        assert_eq!(start.elapsed().as_secs(), at);
    }
}

#[tokio::test(start_paused = true)]
async fn adding_now_cancels_a_later_request() {
    let queue = WorkQueue::new();
    queue.add_after("a", Duration::from_secs(10));
    queue.add("a");
    drop(next(&queue).await);
    assert!(timeout(Duration::from_secs(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_panic_at_work_gives_the_key_back() {
    let queue = WorkQueue::new();
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
async fn after_shutdown_what_waits_is_given_out_and_then_every_worker_gets_none() {
    let queue = WorkQueue::new();
    let idle: Vec<_> = (0..3)
        .map(|_| {
            tokio::spawn({
                let queue = queue.clone();
                async move { queue.get().await.map(|work| *work) }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    queue.add_after("later", SOON);
    queue.shut_down();
    queue.shut_down();
    queue.add("ignored");
    for worker in idle {
        assert_eq!(worker.await.unwrap(), None);
    }

    let queue = WorkQueue::new();
    queue.add("a");
    queue.shut_down();
    drop(next(&queue).await);
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_key_added_at_work_before_shutdown_still_comes_again() {
    let queue = WorkQueue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add("a");
    queue.shut_down();
    drop(work);
    drop(next(&queue).await);
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_key_that_became_due_waits_also_if_no_worker_looked() {
    let queue = WorkQueue::new();
    queue.add_after("due", SOON);
    assert_eq!(queue.len(), 0);
    tokio::time::advance(2 * SOON).await;
    assert_eq!(queue.len(), 1, "it counts");
    queue.add("after");
    queue.add_after("later", SOON);
    queue.shut_down();
    assert_eq!(*next(&queue).await, "due", "it comes in its order, and a shutdown does not drop it");
    assert_eq!(*next(&queue).await, "after");
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn failures_wait_longer_each_time_until_forgotten() {
    let queue = WorkQueue::new();
    for expected in [5, 10, 20] {
        let start = Instant::now();
        queue.add_rate_limited("a");
        drop(queue.get().await);
        assert_eq!(start.elapsed().as_millis(), expected);
    }
    assert_eq!(queue.num_requeues(&"a"), 3);
    queue.forget(&"a");
    assert_eq!(queue.num_requeues(&"a"), 0);
}
