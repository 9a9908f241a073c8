//! Throughput of the work queue: add, get, forget and done with distinct keys and with a few hot keys.
//!
//! `queue-rates [ROUNDS [LOAD]]` prints one line of JSON for each run. Producers and workers are tasks on one thread
//! per processor, like the goroutines of the Go program.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bench::measure::{REPETITIONS, cpu_time, report};
use kubewright_runtime::{ObjectKey, WorkQueue, workqueue::DelayedKeys};
use serde_json::json;
use tokio::{runtime::Runtime, task::coop::consume_budget};

/// The load on a queue.
struct Load {
    /// The table label.
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
    let rounds = numbers.next().unwrap_or(REPETITIONS);
    let loads = numbers.next().map_or(&LOADS[..], |load: usize| LOADS.get(load..=load).unwrap_or_default());
    let runtime = Runtime::new().expect("the runtime starts");
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

/// Adds all keys, processes them and drains the queue.
async fn run(load: &Load, keys: &Arc<[ObjectKey]>) {
    let (start, before) = (Instant::now(), cpu_time());
    let queue = WorkQueue::new();
    let workers: Vec<_> = (0..load.workers).map(|_| tokio::spawn(run_worker(queue.clone()))).collect();
    let numbers = |first| (first..load.adds).step_by(load.producers);
    let producers: Vec<_> =
        (0..load.producers).map(|first| tokio::spawn(produce(queue.clone(), keys.clone(), numbers(first)))).collect();
    for producer in producers {
        producer.await.expect("a producer does not panic");
    }
    queue.drain(DelayedKeys::Drop).await;
    let mut processed = 0;
    for worker in workers {
        processed += worker.await.expect("a worker does not panic");
    }
    report_load(load, processed, start.elapsed(), cpu_time() - before);
}

/// Adds keys and yields by tokio's cooperative budget, as the task of an informer does.
async fn produce(queue: WorkQueue<ObjectKey>, keys: Arc<[ObjectKey]>, numbers: impl Iterator<Item = usize>) {
    for number in numbers {
        queue.add(keys[number % keys.len()].clone());
        consume_budget().await;
    }
}

async fn run_worker(queue: WorkQueue<ObjectKey>) -> u64 {
    let mut processed = 0;
    while let Some(key) = queue.get().await {
        processed += 1;
        queue.forget(&key);
    }
    processed
}

fn report_load(load: &Load, processed: u64, elapsed: Duration, cpu_time: Duration) {
    let (adds, processed, seconds) = (load.adds as f64, processed as f64, elapsed.as_secs_f64());
    let figures = json!({
        "adds_per_s": adds / seconds,
        "processed_per_s": processed / seconds,
        "processed": processed,
        "cpu_ns_per_add": cpu_time.as_nanos() as f64 / adds,
    });
    report(load.name, figures);
}
