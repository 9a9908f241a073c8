//! What is measured of our runtime: the same as of the peers, in the same words.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use logger_runtime::decode::{ListDecoder, ManagedFields, ObjectDecoder};
use logger_runtime::kube::{Api, Client};
use logger_runtime::reflector::{self, Config, InitialSync, Reflector};
use logger_runtime::{Event, InformerFactory, SharedInformer};
use serde_json::json;

use crate::logger::Logger;
use crate::measure::{TIMES, computed, memory, micros, say, scattered, time_decoding};

/// Longer than a first sync takes on a busy machine.
const DEADLINE: Duration = Duration::from_mins(5);

/// The program: `KUBECONFIG` names the cluster.
///
/// # Errors
/// The arguments are not known, or the cluster does not answer.
pub fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match args.as_slice() {
        ["sync", how @ ..] => runtime.block_on(sync(how)),
        ["events", count] => runtime.block_on(events(count.parse().context("how many events?")?)),
        ["lister"] => runtime.block_on(lister()),
        ["decode", object, page] => decode(Path::new(object), Path::new(page)),
        _ => bail!("say what: sync [list] [streaming] [kept], events N, lister, decode OBJECT PAGE"),
    }
}

/// An informer with one handler, which has heard of all objects.
struct Synced {
    _factory: InformerFactory,
    informer: SharedInformer<Logger>,
    updated: Arc<AtomicUsize>,
}

impl Synced {
    async fn start() -> Result<Synced> {
        let factory = InformerFactory::new(Client::try_default().await?);
        let informer = factory.informer::<Logger>();
        let updated = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&updated);
        let handler = informer.add_event_handler(move |event| {
            counted.fetch_add(usize::from(matches!(event, Event::Updated { .. })), Ordering::Relaxed);
        })?;
        factory.start();
        factory.wait_for_sync(DEADLINE).await?;
        handler.wait_for_sync().await?;
        Ok(Synced { _factory: factory, informer, updated })
    }
}

async fn sync(how: &[&str]) -> Result<()> {
    let (began, before) = (Instant::now(), computed());
    // The reflector alone, where the informer is to be other than shipped: what differs is in there.
    let (synced, listed) = match how {
        [] => (Some(Synced::start().await?), Vec::new()),
        how => (None, tokio::spawn(listed(how.join(" "))).await??),
    };
    let (elapsed, taken) = (began.elapsed(), computed() - before);
    let peak = memory("VmHWM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let count = synced.as_ref().map_or(listed.len(), |synced| synced.informer.store().list().len());
    say(
        "sync",
        json!({
            "objects": count, "elapsed_s": elapsed.as_secs_f64(),
            "cpu_s": taken.as_secs_f64(), "peak_mb": peak, "settled_mb": memory("VmRSS"),
        }),
    );
    Ok(())
}

async fn listed(how: String) -> Result<Vec<Arc<Logger>>> {
    let mut config = Config::default();
    if how.contains("streaming") {
        config = config.initial_sync(InitialSync::WatchList);
    }
    if how.contains("list") {
        config = config.initial_sync(InitialSync::List);
    }
    if how.contains("kept") {
        config = config.keep_managed_fields();
    }
    let reflector = Reflector::with(Api::all(Client::try_default().await?), config);
    let mut events = std::pin::pin!(reflector.events());
    while let Some(event) = events.next().await {
        if let reflector::Event::Replaced { objects, .. } = event? {
            return Ok(objects);
        }
    }
    bail!("the reflector ended")
}

/// Says that it is ready, and measures what so many changes cost.
async fn events(count: usize) -> Result<()> {
    let synced = Synced::start().await?;
    let (first, before) = (synced.updated.load(Ordering::Relaxed), computed());
    eprintln!("ready");
    while synced.updated.load(Ordering::Relaxed) - first < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let delivered = synced.updated.load(Ordering::Relaxed) - first;
    say("events", json!({ "delivered": delivered, "cpu_us": micros(computed() - before) / count as f64 }));
    Ok(())
}

/// Finding an object by its key, and listing a namespace.
async fn lister() -> Result<()> {
    let synced = Synced::start().await?;
    let store = synced.informer.store();
    let all = store.list();
    for _ in 0..TIMES {
        let keys: Vec<_> = scattered(500_000, all.len()).map(|i| &all[i].metadata).collect();
        let before = computed();
        for meta in &keys {
            let (namespace, name) = (meta.namespace.as_deref(), meta.name.as_deref());
            let object = store.get(namespace.unwrap_or_default(), name.unwrap_or_default());
            black_box(object).context("an object is gone")?;
        }
        say("get", json!({ "ns": (computed() - before).as_nanos() as f64 / keys.len() as f64 }));
        let mut taken = Vec::new();
        for i in 0..2_000 {
            let namespace = format!("bench-{:03}", i % 100);
            let began = Instant::now();
            black_box(store.list_namespace(&namespace));
            taken.push(began.elapsed());
        }
        taken.sort_unstable();
        say("list_namespace", json!({ "us": micros(taken[taken.len() / 2]) }));
    }
    Ok(())
}

fn decode(object: &Path, page: &Path) -> Result<()> {
    let (object, page) = (std::fs::read(object)?, std::fs::read(page)?);
    let mut decoder = ObjectDecoder::new(ManagedFields::Dropped);
    time_decoding("decode_object", object.len(), || {
        let logger: Logger = decoder.decode(black_box(&object))?;
        drop(black_box(logger));
        anyhow::Ok(())
    })?;
    time_decoding("decode_page", page.len(), || {
        let mut objects: Vec<Logger> = Vec::new();
        let mut decoder = ListDecoder::new(ManagedFields::Dropped);
        decoder.push(black_box(&page), |object| objects.push(object))?;
        black_box(decoder.finish()?);
        drop(black_box(objects));
        anyhow::Ok(())
    })
}
