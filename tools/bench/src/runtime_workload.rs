//! The workload of our runtime, with the same measurements and output as the programs of the peers.

use std::{
    hint::black_box,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use kubewright_runtime::{
    Event, InformerFactory, Memory, SharedInformer,
    decode::{ListDecoder, ManagedFields, ObjectDecoder},
    kube::{Api, Client},
    reflector::{self, Config, InitialListStrategy, Reflector},
};
use serde_json::json;

use crate::{
    logger::Logger,
    measure::{REPETITIONS, cpu_time, memory, micros, report, scattered, time_decoding},
};

/// Exceeds the duration of an initial sync on a busy machine.
const DEADLINE: Duration = Duration::from_mins(5);

/// Runs the program on the cluster of `KUBECONFIG`.
///
/// # Errors
/// Fails on unknown arguments and on API errors.
pub fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match args.as_slice() {
        ["sync", options @ ..] => runtime.block_on(sync(options)),
        ["events", count] => runtime.block_on(events(count.parse().context("the number of events is invalid")?)),
        ["lister"] => runtime.block_on(lister()),
        ["decode", object, page] => decode(Path::new(object), Path::new(page)),
        _ => bail!(
            "usage: sync [compact | [list] [streaming] [managed-fields]] | events N | lister | decode OBJECT PAGE"
        ),
    }
}

/// An informer with one handler that has received all objects.
struct SyncedInformer {
    _factory: InformerFactory,
    informer: SharedInformer<Logger>,
    updated: Arc<AtomicUsize>,
}

impl SyncedInformer {
    async fn start(memory: Memory) -> Result<SyncedInformer> {
        let factory = InformerFactory::builder(Client::try_default().await?);
        let factory = factory.defaults(|config| config.memory(memory)).build();
        let informer = factory.informer::<Logger>();
        let updated = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&updated);
        let handler = informer.add_event_handler(move |event| {
            counted.fetch_add(usize::from(matches!(event, Event::Updated { .. })), Ordering::Relaxed);
        })?;
        factory.start();
        factory.wait_for_sync(DEADLINE).await?;
        handler.wait_for_sync().await?;
        Ok(SyncedInformer { _factory: factory, informer, updated })
    }
}

async fn sync(options: &[&str]) -> Result<()> {
    let (start, before) = (Instant::now(), cpu_time());
    // Options apply to the reflector alone, which contains everything that they change.
    let (synced, listed) = match options {
        [] => (Some(SyncedInformer::start(Memory::Plain).await?), Vec::new()),
        #[cfg(feature = "compact")]
        ["compact"] => (Some(SyncedInformer::start(Memory::Compact).await?), Vec::new()),
        options => (None, tokio::spawn(list(options.join(" "))).await??),
    };
    let (elapsed, taken) = (start.elapsed(), cpu_time() - before);
    let peak = memory("VmHWM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let count = synced.as_ref().map_or(listed.len(), |synced| synced.informer.store().len());
    report(
        "sync",
        json!({
            "objects": count, "elapsed_s": elapsed.as_secs_f64(),
            "cpu_s": taken.as_secs_f64(), "peak_mb": peak, "settled_mb": memory("VmRSS"),
        }),
    );
    Ok(())
}

async fn list(options: String) -> Result<Vec<Arc<Logger>>> {
    let mut config = Config::default();
    if options.contains("streaming") {
        config = config.initial_list_strategy(InitialListStrategy::WatchList);
    }
    if options.contains("list") {
        config = config.initial_list_strategy(InitialListStrategy::List);
    }
    if options.contains("managed-fields") {
        config = config.keep_managed_fields();
    }
    let reflector = Reflector::with_config(Api::all(Client::try_default().await?), config);
    let mut events = std::pin::pin!(reflector.events());
    while let Some(event) = events.next().await {
        if let reflector::Event::Replaced { objects, .. } = event? {
            return Ok(objects);
        }
    }
    bail!("the reflector ended")
}

/// Prints `ready`, and measures the cost of this many changes.
async fn events(count: usize) -> Result<()> {
    let synced = SyncedInformer::start(Memory::Plain).await?;
    let (first, before) = (synced.updated.load(Ordering::Relaxed), cpu_time());
    eprintln!("ready");
    while synced.updated.load(Ordering::Relaxed) - first < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let delivered = synced.updated.load(Ordering::Relaxed) - first;
    report("events", json!({ "delivered": delivered, "cpu_us": micros(cpu_time() - before) / count as f64 }));
    Ok(())
}

/// Measures lookups by key and lists of a namespace.
async fn lister() -> Result<()> {
    let synced = SyncedInformer::start(Memory::Plain).await?;
    let store = synced.informer.store();
    let all = store.list();
    for _ in 0..REPETITIONS {
        let keys: Vec<_> = scattered(500_000, all.len()).map(|i| &all[i].metadata).collect();
        let before = cpu_time();
        for meta in &keys {
            let (namespace, name) = (meta.namespace.as_deref(), meta.name.as_deref());
            let object = store.get(namespace.unwrap_or_default(), name.unwrap_or_default());
            black_box(object).context("an object is missing")?;
        }
        report("get", json!({ "ns": (cpu_time() - before).as_nanos() as f64 / keys.len() as f64 }));
        let mut taken = Vec::new();
        for i in 0..2_000 {
            let namespace = format!("bench-{:03}", i % 100);
            let start = Instant::now();
            black_box(store.list_namespace(&namespace));
            taken.push(start.elapsed());
        }
        taken.sort_unstable();
        report("list_namespace", json!({ "us": micros(taken[taken.len() / 2]) }));
    }
    Ok(())
}

fn decode(object: &Path, page: &Path) -> Result<()> {
    let (object, page) = (std::fs::read(object)?, std::fs::read(page)?);
    let mut decoder = ObjectDecoder::new(ManagedFields::Drop);
    time_decoding("decode_object", object.len(), || {
        let logger: Logger = decoder.decode(black_box(&object))?;
        drop(black_box(logger));
        anyhow::Ok(())
    })?;
    time_decoding("decode_page", page.len(), || {
        let mut objects: Vec<Logger> = Vec::new();
        let mut decoder = ListDecoder::new(ManagedFields::Drop);
        decoder.push(black_box(&page), |object| objects.push(object))?;
        black_box(decoder.finish()?);
        drop(black_box(objects));
        anyhow::Ok(())
    })
}
