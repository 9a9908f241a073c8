//! Rates of the work queue: add, get, forget, done, with distinct keys and with a few that are added again and again.
//!
//! `queue-rates [ROUNDS [LOAD]]`; one JSON line for each run. Producers are threads, workers are tasks on as many threads as
//! there are workers.

use std::thread;
use std::time::{Duration, Instant};

use bench::measure::{TIMES, computed, say};
use logger_runtime::workqueue::Delayed;
use logger_runtime::{ObjectKey, WorkQueue};
use serde_json::json;
use tokio::runtime::Builder;

/// What is put through a queue.
struct Load {
    /// What tables call it.
    name: &'static str,
    keys: usize,
    adds: usize,
    producers: usize,
    workers: usize,
}

const LOADS: [Load; 4] = [
    Load { name: "queue_distinct_1", keys: 100_000, adds: 100_000, producers: 1, workers: 1 },
    Load { name: "queue_distinct_2", keys: 100_000, adds: 100_000, producers: 2, workers: 2 },
    Load { name: "queue_hot_1", keys: 1000, adds: 1_000_000, producers: 1, workers: 1 },
    Load { name: "queue_hot_2", keys: 1000, adds: 1_000_000, producers: 2, workers: 2 },
];

fn main() {
    let mut numbers = std::env::args().skip(1).map_while(|number| number.parse().ok());
    let rounds = numbers.next().unwrap_or(TIMES);
    let loads = numbers.next().map_or(&LOADS[..], |load: usize| LOADS.get(load..=load).unwrap_or_default());
    for load in loads {
        let keys: Vec<ObjectKey> = (0..load.keys).map(key).collect();
        for _ in 0..rounds {
            run(load, &keys);
        }
    }
}

fn key(number: usize) -> ObjectKey {
    ObjectKey::namespaced(&format!("bench-{:03}", number % 100), &format!("logger-{number:06}"))
}

/// Everything is added, worked on and drained, once.
fn run(load: &Load, keys: &[ObjectKey]) {
    let runtime =
        Builder::new_multi_thread().worker_threads(load.workers).enable_time().build().expect("threads start");
    let (start, before) = (Instant::now(), computed());
    let queue = WorkQueue::new();
    let workers: Vec<_> = (0..load.workers).map(|_| runtime.spawn(work(queue.clone()))).collect();
    thread::scope(|scope| {
        for first in 0..load.producers {
            let queue = &queue;
            scope.spawn(move || {
                for number in (first..load.adds).step_by(load.producers) {
                    queue.add(keys[number % keys.len()].clone());
                }
            });
        }
    });
    runtime.block_on(queue.drain(Delayed::Drop));
    let all = async {
        let mut sum = 0;
        for worker in workers {
            sum += worker.await.expect("workers do not panic");
        }
        sum
    };
    let processed: u64 = runtime.block_on(all);
    report(load, processed, start.elapsed(), computed() - before);
}

async fn work(queue: WorkQueue<ObjectKey>) -> u64 {
    let mut processed = 0;
    while let Some(key) = queue.get().await {
        processed += 1;
        queue.forget(&key);
    }
    processed
}

fn report(load: &Load, processed: u64, took: Duration, computed: Duration) {
    let (adds, processed, seconds) = (load.adds as f64, processed as f64, took.as_secs_f64());
    let figures = json!({
        "adds_per_s": adds / seconds,
        "processed_per_s": processed / seconds,
        "processed": processed,
        "cpu_ns_per_add": computed.as_nanos() as f64 / adds,
    });
    say(load.name, figures);
}
