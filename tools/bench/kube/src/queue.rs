//! Throughput of kube's `scheduler`, a deduplicating delay queue with one consumer, which it uses instead of a work
//! queue.

use std::{
    convert::Infallible,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use futures::{SinkExt, StreamExt, channel::mpsc};
use kube::runtime::{
    reflector::ObjectRef,
    scheduler::{ScheduleRequest, scheduler},
};
use serde_json::json;

use crate::{
    logger::Logger,
    measure::{REPETITIONS, report},
};

type Key = ObjectRef<Logger>;

/// Exceeds the resolution of its timer: without a key in this time, the queue is empty.
const QUIET: Duration = Duration::from_millis(3);

/// Measures the loads of the other queues. There is always one consumer.
pub(crate) async fn measure() -> Result<()> {
    for (what, keys, adds, producers) in [
        ("queue_distinct_1", 100_000, 100_000, 1),
        ("queue_distinct_2", 100_000, 100_000, 2),
        ("queue_hot_1", 1_000, 1_000_000, 1),
        ("queue_hot_2", 1_000, 1_000_000, 2),
    ] {
        let keys: Arc<Vec<Key>> = Arc::new((0..keys).map(key).collect());
        for _ in 0..REPETITIONS {
            let (start, keys) = (Instant::now(), Arc::clone(&keys));
            let processed = tokio::spawn(run(keys, adds, producers)).await??;
            let seconds = start.elapsed().as_secs_f64();
            let (added, done) = (adds as f64 / seconds, processed as f64 / seconds);
            report(what, json!({ "adds_per_s": added, "processed_per_s": done }));
        }
    }
    Ok(())
}

fn key(i: usize) -> Key {
    ObjectRef::new(&format!("logger-{i:06}")).within(&format!("bench-{:03}", i % 100))
}

async fn run(keys: Arc<Vec<Key>>, adds: usize, producers: usize) -> Result<usize, Infallible> {
    let (sender, receiver) = mpsc::channel(100);
    for first in 0..producers {
        let (keys, mut sender) = (Arc::clone(&keys), sender.clone());
        tokio::spawn(async move {
            for i in (first..adds).step_by(producers) {
                if sender.feed(keys[i % keys.len()].clone()).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let added = AtomicUsize::new(0);
    let requests = receiver.map(|message| {
        added.fetch_add(1, Ordering::Relaxed);
        ScheduleRequest { message, run_at: tokio::time::Instant::now() }
    });
    // The end of the stream would drop scheduled keys.
    let mut scheduled = pin!(scheduler(requests.chain(futures::stream::pending())));
    let mut processed = 0;
    loop {
        let next = tokio::time::timeout(QUIET, scheduled.as_mut().hold_unless(|_| true).next()).await;
        match next {
            Ok(Some(_)) => processed += 1,
            _ if added.load(Ordering::Relaxed) == adds => return Ok(processed),
            _ => {}
        }
    }
}
