//! Many producers and many workers on several threads, in real time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kubewright_runtime::{WorkQueue, workqueue::WorkItem};
use tokio::{sync::watch, time::timeout};

const KEYS: usize = 16;
const ROUNDS: usize = 3000;
const TIMEOUT: Duration = Duration::from_secs(20);

/// The objects of the keys, with their desired and observed states.
#[derive(Default)]
struct Objects {
    desired: [AtomicU64; KEYS],
    observed: [AtomicU64; KEYS],
    in_progress: [AtomicBool; KEYS],
    processed_concurrently: AtomicBool,
}

impl Objects {
    /// Reconciles one object: reads the desired state, yields a few times, and makes it the observed state.
    async fn reconcile(&self, key: usize) {
        if self.in_progress[key].swap(true, Ordering::SeqCst) {
            self.processed_concurrently.store(true, Ordering::SeqCst);
        }
        let desired = self.desired[key].load(Ordering::SeqCst);
        for _ in 0..key % 4 {
            tokio::task::yield_now().await;
        }
        self.observed[key].store(desired, Ordering::SeqCst);
        self.in_progress[key].store(false, Ordering::SeqCst);
    }

    fn are_reconciled(&self) -> bool {
        let is_reconciled =
            |key: usize| self.observed[key].load(Ordering::SeqCst) == self.desired[key].load(Ordering::SeqCst);
        (0..KEYS).all(is_reconciled)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_key_is_processed_concurrently_and_none_is_lost() {
    let queue = WorkQueue::new();
    let objects = Arc::new(Objects::default());
    let (processed, mut progress) = watch::channel(());
    let processed = Arc::new(processed);
    let workers: Vec<_> = (0..6)
        .map(|number| tokio::spawn(run_worker(queue.clone(), objects.clone(), processed.clone(), number < 2)))
        .collect();
    let producers: Vec<_> = (0..4).map(|seed| tokio::spawn(produce(queue.clone(), objects.clone(), seed))).collect();
    for producer in producers {
        producer.await.unwrap();
    }
    let all_done = progress.wait_for(|()| objects.are_reconciled());
    timeout(TIMEOUT, all_done).await.expect("every added key is processed").expect("live workers");
    assert!(!objects.processed_concurrently.load(Ordering::SeqCst));

    queue.shut_down();
    for worker in workers {
        timeout(TIMEOUT, worker).await.expect("the worker receives `None`").unwrap();
    }
}

async fn run_worker(
    queue: WorkQueue<usize>,
    objects: Arc<Objects>,
    processed: Arc<watch::Sender<()>>,
    impatient: bool,
) {
    while let Some(key) = next(&queue, impatient).await {
        objects.reconcile(*key).await;
        drop(key);
        processed.send_replace(());
    }
}

/// Returns the next key. An impatient worker cancels its wait repeatedly, which must lose no key.
async fn next(queue: &WorkQueue<usize>, impatient: bool) -> Option<WorkItem<usize>> {
    if !impatient {
        return queue.get().await;
    }
    loop {
        if let Ok(next) = timeout(Duration::from_micros(50), queue.get()).await {
            return next;
        }
    }
}

async fn produce(queue: WorkQueue<usize>, objects: Arc<Objects>, seed: usize) {
    for round in 0..ROUNDS {
        let key = (round * 7 + seed * 5 + round / 11) % KEYS;
        objects.desired[key].fetch_add(1, Ordering::SeqCst);
        match round % 4 {
            0 => queue.add_after(key, Duration::from_micros(round as u64 % 900)),
            1 if round % 64 == 1 => queue.add_rate_limited(key),
            _ => queue.add(key),
        }
        queue.forget(&key);
        if round % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
}
