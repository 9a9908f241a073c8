//! Measures plain kube-runtime. Prints one measurement per line as JSON.

mod logger;
#[path = "../../src/measure.rs"]
#[expect(unreachable_pub, reason = "the file is a public module of the bench crate, too")]
mod measure;
mod queue;
mod sync;

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use kube::{core::ObjectList, runtime::reflector::ObjectRef};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{
    logger::Logger,
    measure::{REPETITIONS, cpu_time, micros, report, scattered, time_decoding},
    sync::SyncedReflector,
};

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["sync", options @ ..] => SyncedReflector::measure(options).await,
        ["events", count] => sync::events(count.parse().context("the number of events is invalid")?).await,
        ["lister"] => lister().await,
        ["queue"] => queue::measure().await,
        ["decode", object, page] => decode(Path::new(object), Path::new(page)),
        _ => bail!("usage: sync [without-managed-fields] [streaming] | events N | lister | queue | decode OBJECT PAGE"),
    }
}

/// Measures lookups by key and lists of a namespace.
async fn lister() -> Result<()> {
    let (store, _) = SyncedReflector::start(&["without-managed-fields"]).await?;
    let all = store.state();
    for _ in 0..REPETITIONS {
        let keys: Vec<_> = scattered(500_000, all.len()).map(|i| &all[i].metadata).collect();
        let before = cpu_time();
        for meta in &keys {
            let (name, namespace) = (meta.name.as_deref(), meta.namespace.as_deref());
            let key = ObjectRef::<Logger>::new(name.unwrap_or_default()).within(namespace.unwrap_or_default());
            black_box(store.get(&key)).context("an object is missing")?;
        }
        report("get", json!({ "ns": (cpu_time() - before).as_nanos() as f64 / keys.len() as f64 }));
        let mut taken: Vec<_> = (0..200).map(|i| time_of_list(&store, &format!("bench-{:03}", i % 100))).collect();
        taken.sort_unstable();
        report("list_namespace", json!({ "us": micros(taken[taken.len() / 2]) }));
    }
    Ok(())
}

fn time_of_list(store: &kube::runtime::reflector::Store<Logger>, namespace: &str) -> Duration {
    let start = Instant::now();
    black_box(store.state_filter(|logger| logger.metadata.namespace.as_deref() == Some(namespace)));
    start.elapsed()
}

fn decode(object: &Path, page: &Path) -> Result<()> {
    time::<Logger>("decode_object", &std::fs::read(object)?)?;
    time::<ObjectList<Logger>>("decode_page", &std::fs::read(page)?)
}

fn time<T: DeserializeOwned>(what: &str, json: &[u8]) -> Result<()> {
    time_decoding(what, json.len(), || {
        drop(black_box(serde_json::from_slice::<T>(black_box(json))?));
        Ok(())
    })
}
