//! A reflector of all Loggers with one consumer, as in kube's documentation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use futures::StreamExt;
use kube::{
    Api, Client,
    runtime::{
        WatchStreamExt,
        reflector::{self, Store},
        watcher,
    },
};
use serde_json::json;

use crate::{
    logger::Logger,
    measure::{cpu_time, memory, micros, report},
};

/// A reflector that has synced.
pub(crate) struct SyncedReflector;

impl SyncedReflector {
    /// Starts a reflector and waits until the consumer has all objects. Returns the store and the event count of the
    /// consumer.
    pub(crate) async fn start(options: &[&str]) -> Result<(Store<Logger>, Arc<AtomicUsize>)> {
        let mut config = watcher::Config::default();
        if options.contains(&"streaming") {
            config = config.streaming_lists();
        }
        let drops_managed_fields = options.contains(&"without-managed-fields");
        let (store, writer) = reflector::store::<Logger>();
        let events = watcher(Api::all(Client::try_default().await?), config).default_backoff();
        let events = events.modify(move |logger: &mut Logger| {
            if drops_managed_fields {
                logger.metadata.managed_fields = None;
            }
        });
        let received = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&received);
        tokio::spawn(events.reflect(writer).touched_objects().for_each(move |object| {
            counted.fetch_add(usize::from(object.is_ok()), Ordering::Relaxed);
            std::future::ready(())
        }));
        store.wait_until_ready().await?;
        while received.load(Ordering::Relaxed) < store.len() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok((store, received))
    }

    /// Measures the initial sync.
    pub(crate) async fn measure(options: &[&str]) -> Result<()> {
        let (start, before) = (Instant::now(), cpu_time());
        let (store, _) = Self::start(options).await?;
        let (elapsed, taken) = (start.elapsed(), cpu_time() - before);
        let peak = memory("VmHWM");
        tokio::time::sleep(Duration::from_millis(300)).await;
        report(
            "sync",
            json!({
                "objects": store.len(), "elapsed_s": elapsed.as_secs_f64(), "cpu_s": taken.as_secs_f64(),
                "peak_mb": peak, "settled_mb": memory("VmRSS"),
            }),
        );
        Ok(())
    }
}

/// Prints `ready`, and measures the cost of this many changes.
pub(crate) async fn events(count: usize) -> Result<()> {
    let (_store, received) = SyncedReflector::start(&[]).await?;
    let (first, before) = (received.load(Ordering::Relaxed), cpu_time());
    eprintln!("ready");
    while received.load(Ordering::Relaxed) - first < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let delivered = received.load(Ordering::Relaxed) - first;
    report("events", json!({ "delivered": delivered, "cpu_us": micros(cpu_time() - before) / count as f64 }));
    Ok(())
}
