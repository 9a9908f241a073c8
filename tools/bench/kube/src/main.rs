//! Plain kube-runtime, measured: each line that it prints is one measurement as JSON.

mod logger;
#[path = "../../src/measure.rs"]
#[expect(unreachable_pub, reason = "the same file is a public module of the other bench crate")]
mod measure;
mod queue;
mod synced;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kube::core::ObjectList;
use kube::runtime::reflector::ObjectRef;
use serde::de::DeserializeOwned;
use serde_json::json;

use logger::Logger;
use measure::{TIMES, computed, micros, say, scattered, time_decoding};
use synced::Synced;

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["sync", how @ ..] => Synced::measure(how).await,
        ["events", count] => synced::events(count.parse().context("how many events?")?).await,
        ["lister"] => lister().await,
        ["queue"] => queue::measure().await,
        ["decode", object, page] => decode(Path::new(object), Path::new(page)),
        _ => bail!("say what: sync [stripped] [streaming], events N, lister, queue, decode OBJECT PAGE"),
    }
}

/// Finding an object by its key, and listing a namespace.
async fn lister() -> Result<()> {
    let (store, _) = Synced::start(&["stripped"]).await?;
    let all = store.state();
    for _ in 0..TIMES {
        let keys: Vec<_> = scattered(500_000, all.len()).map(|i| &all[i].metadata).collect();
        let before = computed();
        for meta in &keys {
            let (name, namespace) = (meta.name.as_deref(), meta.namespace.as_deref());
            let key = ObjectRef::<Logger>::new(name.unwrap_or_default()).within(namespace.unwrap_or_default());
            black_box(store.get(&key)).context("an object is gone")?;
        }
        say("get", json!({ "ns": (computed() - before).as_nanos() as f64 / keys.len() as f64 }));
        let mut taken: Vec<_> = (0..200).map(|i| time_of_list(&store, &format!("bench-{:03}", i % 100))).collect();
        taken.sort_unstable();
        say("list_namespace", json!({ "us": micros(taken[taken.len() / 2]) }));
    }
    Ok(())
}

fn time_of_list(store: &kube::runtime::reflector::Store<Logger>, namespace: &str) -> Duration {
    let began = Instant::now();
    black_box(store.state_filter(|logger| logger.metadata.namespace.as_deref() == Some(namespace)));
    began.elapsed()
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
