//! The promises of the work queue, by the numbers of its rules. The clock is paused but where threads really run: time passes
//! only where a test waits for it. Rules Q11 to Q15, the rate limiters alone, are beside their code.

mod delays;
mod failures;
mod metrics;
mod order;
mod priority;
mod shutdown;
mod threads;

use std::future::Future;
use std::time::Duration;

use logger_runtime::WorkQueue;
use logger_runtime::workqueue::Work;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(1);

type Queue = WorkQueue<&'static str>;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The next key, which must be there soon.
async fn next(queue: &Queue) -> Work<&'static str> {
    timeout(SOON, queue.get()).await.expect("a key is ready").expect("the queue is not over")
}

async fn nothing_comes(queue: &Queue) {
    assert!(timeout(SOON, queue.get()).await.is_err());
}

/// All that waits, worked on in turn.
async fn all(queue: &Queue) -> Vec<&'static str> {
    let mut keys = Vec::new();
    while !queue.is_empty() {
        keys.push(*next(queue).await);
    }
    keys
}

/// Runs it until it has to wait.
async fn begun<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let task = tokio::spawn(future);
    tokio::task::yield_now().await;
    task
}
