//! Delayed keys.

use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn q09_a_delayed_key_is_delivered_once_when_it_is_due() {
    let queue = Queue::new();
    let start = Instant::now();
    queue.add_after("a", seconds(10));
    tokio::time::sleep(millis(9999)).await;
    assert_eq!(queue.len(), 0);
    assert_eq!(*queue.get().await.unwrap(), "a");
    assert_eq!(start.elapsed(), seconds(10));
    assert_idle(&queue).await;
}

#[tokio::test(start_paused = true)]
async fn q09_a_zero_delay_is_immediate() {
    let queue = Queue::new();
    queue.add_after("a", Duration::ZERO);
    queue.add_at("b", Instant::now());
    assert_eq!(process_ready(&queue).await, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn q09_the_earliest_of_several_delays_counts() {
    let queue = Queue::new();
    let start = Instant::now();
    for delay in [30, 10, 20] {
        queue.add_after("a", seconds(delay));
    }
    drop(queue.get().await);
    assert_eq!(start.elapsed(), seconds(10));
    assert!(timeout(seconds(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn q10_delayed_keys_are_delivered_in_the_order_they_are_due() {
    let queue = Queue::new();
    let start = Instant::now();
    for (key, delay) in [("c", 3), ("a", 1), ("b", 2), ("d", 3)] {
        queue.add_after(key, seconds(delay));
    }
    for (expected, at) in [("a", 1), ("b", 2), ("c", 3), ("d", 3)] {
        assert_eq!(*queue.get().await.unwrap(), expected);
        assert_eq!(start.elapsed(), seconds(at));
    }
}

#[tokio::test(start_paused = true)]
async fn q10_delayed_keys_keep_that_order_if_no_worker_was_waiting() {
    let queue = Queue::new();
    for (key, delay) in [("c", 3), ("a", 1), ("b", 2)] {
        queue.add_after(key, seconds(delay));
    }
    tokio::time::sleep(seconds(5)).await;
    assert_eq!(queue.len(), 3);
    queue.add("d");
    assert_eq!(process_ready(&queue).await, ["a", "b", "c", "d"]);
}

#[tokio::test(start_paused = true)]
async fn add_at_delivers_at_that_time_or_at_once_if_it_has_passed() {
    let queue = Queue::new();
    let start = Instant::now();
    tokio::time::sleep(seconds(5)).await;
    queue.add_at("later", start + seconds(8));
    queue.add_at("past", start + seconds(1));
    assert_eq!(*next(&queue).await, "past");
    drop(queue.get().await);
    assert_eq!(start.elapsed(), seconds(8));
}

#[tokio::test(start_paused = true)]
async fn q23_an_immediate_add_cancels_a_delayed_one() {
    let queue = Queue::new();
    queue.add_after("a", seconds(10));
    queue.add("a");
    queue.add_after("a", seconds(20));
    drop(next(&queue).await);
    assert!(timeout(seconds(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn q23_a_key_in_progress_can_be_delayed_and_an_event_cancels_that() {
    let queue = Queue::new();
    let start = Instant::now();
    queue.add("a");
    let work = next(&queue).await;
    queue.add_after("a", seconds(10));
    drop(work);
    let work = queue.get().await;
    assert_eq!(start.elapsed(), seconds(10));
    queue.add_after("a", seconds(10));
    queue.add("a");
    drop(work);
    drop(next(&queue).await);
    assert!(timeout(seconds(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_key_that_becomes_due_while_processed_is_ready_afterwards() {
    let queue = Queue::new();
    queue.add("a");
    let work = next(&queue).await;
    queue.add_after("a", seconds(1));
    tokio::time::sleep(seconds(5)).await;
    assert_eq!(queue.len(), 0);
    drop(work);
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn q25_adding_never_waits_however_many_keys_are_delayed() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    (0..100_000).for_each(|key| queue.add_after(key, SOON));
    assert_eq!((start.elapsed(), queue.len()), (Duration::ZERO, 0));
    tokio::time::sleep(SOON).await;
    assert_eq!(queue.len(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn q25_a_queue_has_no_background_task() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let queue = Queue::new();
    queue.add_after("a", SOON);
    queue.add_rate_limited("b");
    drop(next(&queue).await);
    assert_eq!(tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn no_delay_is_too_long() {
    let queue = Queue::new();
    queue.add_after("never", Duration::MAX);
    queue.add_after("a", seconds(400 * 24 * 3600));
    let start = Instant::now();
    assert_eq!(*queue.get().await.unwrap(), "a");
    assert_eq!(start.elapsed().as_secs(), 400 * 24 * 3600);
}

#[tokio::test(start_paused = true)]
async fn each_key_that_becomes_due_wakes_one_sleeping_worker() {
    let queue = Queue::new();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let queue = queue.clone();
        workers.push(spawn_and_poll(async move { (queue.get().await.map(|work| *work), Instant::now()) }).await);
    }
    let start = Instant::now();
    queue.add_after("later", seconds(3));
    queue.add_after("soon", seconds(1));
    queue.add_after("also soon", seconds(1));
    let mut received = Vec::new();
    for worker in workers {
        let (key, at) = worker.await.unwrap();
        received.push((at - start, key.unwrap()));
    }
    received.sort_unstable();
    assert_eq!(received.iter().map(|(at, _)| at.as_secs()).collect::<Vec<_>>(), [1, 1, 3]);
    assert_eq!(received[2].1, "later");
}

#[tokio::test(start_paused = true)]
async fn a_delayed_key_is_delivered_even_if_the_worker_with_its_timer_is_cancelled() {
    let queue = Queue::new();
    queue.add_after("a", seconds(10));
    let timer = spawn_and_poll({
        let queue = queue.clone();
        async move { queue.get().await.is_some() }
    })
    .await;
    let other = spawn_and_poll({
        let queue = queue.clone();
        async move { (queue.get().await.is_some(), Instant::now()) }
    })
    .await;
    let start = Instant::now();
    tokio::time::sleep(seconds(5)).await;
    timer.abort();
    let (received, at) = timeout(seconds(60), other).await.expect("the other worker is woken").unwrap();
    assert_eq!((received, at - start), (true, seconds(10)));
}
