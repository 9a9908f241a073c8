//! The guarantees of the work queue, by the numbers of its rules. The clock is paused, except where several threads
//! run: time advances only while a test waits. The tests of rules Q11 to Q15, the rate limiters, are beside their code.

mod concurrency;
mod delays;
mod failures;
mod metrics;
mod order;
mod priority;
mod shutdown;

use std::{future::Future, time::Duration};

use kubewright_runtime::{WorkQueue, workqueue::WorkItem};
use tokio::{task::JoinHandle, time::timeout};

const SOON: Duration = Duration::from_secs(1);

type Queue = WorkQueue<&'static str>;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns the next key, which must become ready within a second.
async fn next(queue: &Queue) -> WorkItem<&'static str> {
    timeout(SOON, queue.get()).await.expect("a key is ready").expect("the queue is not shut down")
}

/// Asserts that no key becomes ready within a second.
async fn assert_idle(queue: &Queue) {
    assert!(timeout(SOON, queue.get()).await.is_err());
}

/// Processes the ready keys in turn and returns them.
async fn process_ready(queue: &Queue) -> Vec<&'static str> {
    let mut keys = Vec::new();
    while !queue.is_empty() {
        keys.push(*next(queue).await);
    }
    keys
}

/// Spawns a task and polls it once.
async fn spawn_and_poll<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let task = tokio::spawn(future);
    tokio::task::yield_now().await;
    task
}
