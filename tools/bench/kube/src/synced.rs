//! A reflector of all Loggers with one consumer, as kube's documentation has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::StreamExt;
use kube::runtime::reflector::{self, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use serde_json::json;

use crate::logger::Logger;
use crate::measure::{computed, memory, micros, say};

pub(crate) struct Synced;

impl Synced {
    /// Returns when the consumer has all objects: the store, and how many events the consumer got.
    pub(crate) async fn start(how: &[&str]) -> Result<(Store<Logger>, Arc<AtomicUsize>)> {
        let mut config = watcher::Config::default();
        if how.contains(&"streaming") {
            config = config.streaming_lists();
        }
        let is_stripped = how.contains(&"stripped");
        let (store, writer) = reflector::store::<Logger>();
        let events = watcher(Api::all(Client::try_default().await?), config).default_backoff();
        let events = events.modify(move |logger: &mut Logger| {
            if is_stripped {
                logger.metadata.managed_fields = None;
            }
        });
        let heard = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&heard);
        tokio::spawn(events.reflect(writer).touched_objects().for_each(move |object| {
            counted.fetch_add(usize::from(object.is_ok()), Ordering::Relaxed);
            std::future::ready(())
        }));
        store.wait_until_ready().await?;
        while heard.load(Ordering::Relaxed) < store.len() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok((store, heard))
    }

    /// The first sync.
    pub(crate) async fn measure(how: &[&str]) -> Result<()> {
        let (began, before) = (Instant::now(), computed());
        let (store, _) = Self::start(how).await?;
        let (elapsed, taken) = (began.elapsed(), computed() - before);
        let peak = memory("VmHWM");
        tokio::time::sleep(Duration::from_millis(300)).await;
        say(
            "sync",
            json!({
                "objects": store.len(), "elapsed_s": elapsed.as_secs_f64(), "cpu_s": taken.as_secs_f64(),
                "peak_mb": peak, "settled_mb": memory("VmRSS"),
            }),
        );
        Ok(())
    }
}

/// Says that it is ready, and measures what so many changes cost.
pub(crate) async fn events(count: usize) -> Result<()> {
    let (_store, heard) = Synced::start(&[]).await?;
    let (first, before) = (heard.load(Ordering::Relaxed), computed());
    eprintln!("ready");
    while heard.load(Ordering::Relaxed) - first < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let delivered = heard.load(Ordering::Relaxed) - first;
    say("events", json!({ "delivered": delivered, "cpu_us": micros(computed() - before) / count as f64 }));
    Ok(())
}
