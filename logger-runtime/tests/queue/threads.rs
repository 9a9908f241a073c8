//! The work queue between many producers and many workers, on several threads and in real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use logger_runtime::WorkQueue;
use logger_runtime::workqueue::Work;
use tokio::sync::watch;
use tokio::time::timeout;

const KEYS: usize = 16;
const ROUNDS: usize = 3000;
const LONG_ENOUGH: Duration = Duration::from_secs(20);

/// The objects that keys name: what is wanted of each, and what was last done about it.
#[derive(Default)]
struct Objects {
    wanted: [AtomicU64; KEYS],
    done: [AtomicU64; KEYS],
    at_work: [AtomicBool; KEYS],
    at_work_twice: AtomicBool,
}

impl Objects {
    /// What a reconciler does: reads what is wanted, takes its time, and makes it so.
    async fn work_on(&self, key: usize) {
        if self.at_work[key].swap(true, Ordering::SeqCst) {
            self.at_work_twice.store(true, Ordering::SeqCst);
        }
        let wanted = self.wanted[key].load(Ordering::SeqCst);
        for _ in 0..key % 4 {
            tokio::task::yield_now().await;
        }
        self.done[key].store(wanted, Ordering::SeqCst);
        self.at_work[key].store(false, Ordering::SeqCst);
    }

    fn are_as_wanted(&self) -> bool {
        let is_done = |key: usize| self.done[key].load(Ordering::SeqCst) == self.wanted[key].load(Ordering::SeqCst);
        (0..KEYS).all(is_done)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_key_is_at_work_twice_at_once_and_nothing_is_lost() {
    let queue = WorkQueue::new();
    let objects = Arc::new(Objects::default());
    let (worked, mut news) = watch::channel(());
    let worked = Arc::new(worked);
    let workers: Vec<_> =
        (0..6).map(|number| tokio::spawn(work(queue.clone(), objects.clone(), worked.clone(), number < 2))).collect();
    let producers: Vec<_> = (0..4).map(|seed| tokio::spawn(produce(queue.clone(), objects.clone(), seed))).collect();
    for producer in producers {
        producer.await.unwrap();
    }
    let all_done = news.wait_for(|()| objects.are_as_wanted());
    timeout(LONG_ENOUGH, all_done).await.expect("every key that was added is worked on").expect("the workers live");
    assert!(!objects.at_work_twice.load(Ordering::SeqCst));

    queue.shut_down();
    for worker in workers {
        timeout(LONG_ENOUGH, worker).await.expect("the worker gets `None`").unwrap();
    }
}

async fn work(queue: WorkQueue<usize>, objects: Arc<Objects>, worked: Arc<watch::Sender<()>>, impatient: bool) {
    while let Some(key) = next(&queue, impatient).await {
        objects.work_on(*key).await;
        drop(key);
        worked.send_replace(());
    }
}

/// The next key. An impatient worker gives up waiting again and again: that must lose nothing.
async fn next(queue: &WorkQueue<usize>, impatient: bool) -> Option<Work<usize>> {
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
        objects.wanted[key].fetch_add(1, Ordering::SeqCst);
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
