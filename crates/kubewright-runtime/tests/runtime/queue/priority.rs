//! Priorities and ageing.

use std::num::NonZeroU32;

use kubewright_runtime::workqueue::{AddOptions, Ageing, Config, LOW_PRIORITY};
use tokio::time::Instant;

use super::*;

fn add(queue: &Queue, key: &'static str, priority: i32) {
    queue.add_with(key, AddOptions { priority, ..AddOptions::default() });
}

fn add_later(queue: &Queue, key: &'static str, priority: i32, after: Duration) {
    queue.add_with(key, AddOptions { priority, after: Some(after), ..AddOptions::default() });
}

#[tokio::test(start_paused = true)]
async fn q17_higher_priorities_are_delivered_first_and_in_order_within_one() {
    let queue = Queue::new();
    for (key, priority) in [("low", LOW_PRIORITY), ("a", 0), ("high", 7), ("b", 0), ("also low", LOW_PRIORITY)] {
        add(&queue, key, priority);
    }
    assert_eq!(process_ready(&queue).await, ["high", "a", "b", "low", "also low"]);
}

#[tokio::test(start_paused = true)]
async fn q17_a_lower_priority_is_ignored_and_a_higher_one_moves_the_key_to_its_end() {
    let queue = Queue::new();
    for (key, priority) in [("a", 1), ("b", 0), ("c", 1), ("a", 0), ("b", 1)] {
        add(&queue, key, priority);
    }
    assert_eq!(queue.len(), 3);
    assert_eq!(process_ready(&queue).await, ["a", "c", "b"]);
}

#[tokio::test(start_paused = true)]
async fn q17_the_highest_priority_and_the_earliest_time_of_several_requests_count() {
    let queue = Queue::new();
    let start = Instant::now();
    add_later(&queue, "a", 5, seconds(10));
    add_later(&queue, "a", 0, seconds(1));
    add_later(&queue, "b", 3, seconds(1));
    tokio::time::sleep(seconds(1)).await;
    let work = next(&queue).await;
    assert_eq!((*work, work.priority(), start.elapsed()), ("a", 5, seconds(1)));
    let work = next(&queue).await;
    assert_eq!((*work, work.priority()), ("b", 3));
}

#[tokio::test(start_paused = true)]
async fn q17_a_delayed_key_made_ready_keeps_its_priority_and_delayed_requests_raise_a_ready_one() {
    let queue = Queue::new();
    add_later(&queue, "a", 5, seconds(10));
    add(&queue, "b", 3);
    add(&queue, "a", 0);
    add(&queue, "c", 0);
    add_later(&queue, "c", 9, seconds(10));
    assert_eq!(process_ready(&queue).await, ["c", "a", "b"]);
    assert!(timeout(seconds(60), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn q17_a_key_in_progress_blocks_no_other_and_is_requeued_with_the_new_priority() {
    let queue = Queue::new();
    add(&queue, "a", 9);
    let work = next(&queue).await;
    add(&queue, "a", 3);
    add(&queue, "b", 1);
    add(&queue, "a", 5);
    assert_eq!(*next(&queue).await, "b");
    add(&queue, "b", 4);
    drop(work);
    let work = next(&queue).await;
    assert_eq!((*work, work.priority()), ("a", 5));
    assert_eq!(*next(&queue).await, "b");
}

#[tokio::test(start_paused = true)]
async fn q17_len_counts_ready_keys_only() {
    let queue = Queue::new();
    add(&queue, "a", 1);
    add(&queue, "b", 2);
    add_later(&queue, "c", 3, SOON);
    assert_eq!(queue.len(), 2);
    let _work = next(&queue).await;
    assert_eq!(queue.len(), 1);
}

fn ageing(max_wait: Duration, share: u32) -> Config<u32> {
    let share = NonZeroU32::new(share).expect("a share above zero");
    Config { ageing: Some(Ageing { max_wait, share }), ..Config::default() }
}

/// Returns the number of deliveries before `low`, while a key of high priority is always ready.
async fn deliveries_before(queue: &WorkQueue<u32>, low: u32, each: Duration) -> usize {
    for deliveries in 0.. {
        queue.add_with(1000 + deliveries, AddOptions { priority: 10, ..AddOptions::default() });
        let work = queue.get().await.expect("the queue is not shut down");
        tokio::time::sleep(each).await;
        if *work == low {
            return deliveries as usize;
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn q27_low_priorities_are_delivered_in_bounded_time_under_constant_load() {
    let queue = WorkQueue::with_config(ageing(seconds(60), 4));
    (0..5).for_each(|key| queue.add(key));
    let start = Instant::now();
    for low in 0..5 {
        deliveries_before(&queue, low, seconds(1)).await;
        let bound = seconds(60 + 4 * u64::from(low + 1) + 1);
        assert!(start.elapsed() <= bound, "key {low} was delivered after {:?}", start.elapsed());
        assert!(start.elapsed() > seconds(60), "not before the maximum wait");
    }
}

#[tokio::test(start_paused = true)]
async fn q27_high_priorities_keep_their_share_of_the_deliveries() {
    let queue = WorkQueue::with_config(ageing(seconds(60), 4));
    (0..1000).for_each(|key| queue.add(key));
    queue.add_with(5000, AddOptions { priority: 1, ..AddOptions::default() });
    drop(queue.get().await);
    tokio::time::sleep(seconds(3600)).await;
    (2000..2100).for_each(|key| queue.add_with(key, AddOptions { priority: 1, ..AddOptions::default() }));
    let mut high = 0;
    for _ in 0..132 {
        high += usize::from(*queue.get().await.unwrap() >= 2000);
    }
    assert_eq!(high, 99, "three of four deliveries");
}

#[tokio::test(start_paused = true)]
async fn q27_every_aged_priority_is_served() {
    let queue = WorkQueue::with_config(ageing(seconds(10), 2));
    for level in 0..3 {
        queue.add_with(level, AddOptions { priority: level as i32 - 5, ..AddOptions::default() });
    }
    let start = Instant::now();
    let mut left = vec![0, 1, 2];
    for delivery in 0.. {
        queue.add_with(1000 + delivery, AddOptions { priority: 10, ..AddOptions::default() });
        let work = queue.get().await.unwrap();
        left.retain(|low| *low != *work);
        if left.is_empty() {
            break;
        }
        tokio::time::sleep(seconds(1)).await;
    }
    assert!(start.elapsed() <= seconds(10 + 2 * 3 + 1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn q27_without_ageing_only_the_priority_counts() {
    let queue = WorkQueue::with_config(Config { ageing: None, ..Config::default() });
    queue.add(0);
    for key in 1..10_000 {
        queue.add_with(key, AddOptions { priority: 1, ..AddOptions::default() });
        assert_eq!(*queue.get().await.unwrap(), key);
        tokio::time::advance(seconds(1)).await;
    }
}
