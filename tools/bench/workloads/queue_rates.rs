//! Rates of the work queue: add, get, forget, done, with distinct keys and with a few that are added again and again.
//!
//! `queue-rates [ROUNDS [LOAD]]`; one JSON line for each run. Producers and workers are tasks on as many threads as there
//! are processors, as they are goroutines where Go is measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::measure::{TIMES, computed, say};
use logger_runtime::workqueue::Delayed;
use logger_runtime::{ObjectKey, WorkQueue};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::coop::consume_budget;

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
    let runtime = Runtime::new().expect("threads start");
    for load in loads {
        let keys = (0..load.keys).map(key).collect();
        for _ in 0..rounds {
            runtime.block_on(async { run(load, &keys).await });
        }
    }
}

fn key(number: usize) -> ObjectKey {
    ObjectKey::namespaced(&format!("bench-{:03}", number % 100), &format!("logger-{number:06}"))
}

/// Everything is added, worked on and drained, once.
async fn run(load: &Load, keys: &Arc<[ObjectKey]>) {
    let (start, before) = (Instant::now(), computed());
    let queue = WorkQueue::new();
    let workers: Vec<_> = (0..load.workers).map(|_| tokio::spawn(work(queue.clone()))).collect();
    let numbers = |first| (first..load.adds).step_by(load.producers);
    let producers: Vec<_> =
        (0..load.producers).map(|first| tokio::spawn(produce(queue.clone(), keys.clone(), numbers(first)))).collect();
    for producer in producers {
        producer.await.expect("producers do not panic");
    }
    queue.drain(Delayed::Drop).await;
    let mut processed = 0;
    for worker in workers {
        processed += worker.await.expect("workers do not panic");
    }
    report(load, processed, start.elapsed(), computed() - before);
}

/// As an informer's task, it lets others run as often as tokio asks tasks to.
async fn produce(queue: WorkQueue<ObjectKey>, keys: Arc<[ObjectKey]>, numbers: impl Iterator<Item = usize>) {
    for number in numbers {
        queue.add(keys[number % keys.len()].clone());
        consume_budget().await;
    }
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
