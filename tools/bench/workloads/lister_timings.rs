//! Times and counts what reading a store costs: 50,000 Loggers in 100 namespaces, as a reflector would have put them there.
//!
//! Prints one JSON object for each thing measured. `ns` and `us` are medians of five rounds by the clock; the peers' programs
//! pick their keys in the same way.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use allocation_counter::measure;
use bench::logger::Logger;
use logger_runtime::{Index, Lister, ObjectKey, Store};
use serde_json::{Value, json};

const NAMESPACES: usize = 100;
const EACH: usize = 500;
const GETS: usize = 1_000_000;
const LISTS: usize = 1000;
const ROUNDS: usize = 5;

fn main() {
    let loggers = loggers();
    let mut store = Store::default();
    let start = Instant::now();
    let counted = measure(|| store = loggers.iter().cloned().collect());
    let fill = start.elapsed().as_nanos() as f64 / loggers.len() as f64;
    let bytes = counted.bytes_current as f64 / loggers.len() as f64;
    tell(
        &json!({"what": "fill", "objects": loggers.len(), "ns_per_object": round(fill), "store_bytes_per_object": round(bytes)}),
    );

    let picks = picks(&loggers);
    time_gets(&store, &picks);
    time_lists(&store);
    time_index(&store);
    time_floors(&loggers);
}

/// Decoded one by one, as they come from a server; without managedFields, as the informer's defaults have them.
fn loggers() -> Vec<Arc<Logger>> {
    let text = include_str!("../apis/example/v1/testdata/logger.json");
    let decode = |i: usize| {
        let mut logger: Logger = serde_json::from_str(text).expect("the file is a Logger");
        logger.metadata.name = Some(format!("logger-{i:06}"));
        logger.metadata.namespace = Some(format!("bench-{:03}", i / EACH));
        logger.metadata.uid = Some(format!("00000000-0000-4000-8000-{i:012}"));
        logger.metadata.resource_version = Some((i + 1).to_string());
        logger.metadata.managed_fields = None;
        Arc::new(logger)
    };
    (0..NAMESPACES * EACH).map(decode).collect()
}

/// Objects at random: their keys are looked up.
fn picks(loggers: &[Arc<Logger>]) -> Vec<&Arc<Logger>> {
    let mut random = 1_usize;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % loggers.len()
    };
    (0..GETS).map(|_| &loggers[next()]).collect()
}

fn name(logger: &Logger) -> (&str, &str) {
    let meta = &logger.metadata;
    (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
}

fn time_gets(store: &Store<Logger>, picks: &[&Arc<Logger>]) {
    let found = |object: &Logger| {
        let (namespace, name) = name(object);
        store.get(namespace, name).is_some()
    };
    let ns = median(|| picks.iter().filter(|logger| found(logger)).count(), GETS);
    let counted = measure(|| assert!(found(picks[0])));
    tell(&json!({"what": "get", "ns": round(ns), "allocations": counted.count_total}));

    let lister = Lister::new(store.clone());
    let through_lister = |object: &Logger| {
        let (namespace, name) = name(object);
        lister.namespace(namespace).get(name).is_ok()
    };
    let ns = median(|| picks.iter().filter(|logger| through_lister(logger)).count(), GETS);
    tell(&json!({"what": "get, a namespace lister for each", "ns": round(ns)}));

    let keys: Vec<_> = picks[..GETS / 5].iter().map(|logger| ObjectKey::of(logger.as_ref())).collect();
    let ns = median(|| keys.iter().filter(|key| store.get_by_key(key).is_some()).count(), keys.len());
    tell(&json!({"what": "get by a key", "ns": round(ns)}));
}

fn time_lists(store: &Store<Logger>) {
    let namespaces: Vec<_> = (0..NAMESPACES).map(|i| format!("bench-{i:03}")).collect();
    let list = |nth: usize| store.list_namespace(&namespaces[nth % NAMESPACES]).len();
    let mut times: Vec<_> = (0..LISTS * ROUNDS)
        .map(|nth| {
            let start = Instant::now();
            assert_eq!(black_box(list(nth)), EACH);
            start.elapsed().as_nanos() as f64 / 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let counted = measure(|| assert_eq!(list(0), EACH));
    tell(&json!({
        "what": "list of one namespace", "objects": EACH, "us": round(times[times.len() / 2]),
        "p99_us": round(times[times.len() * 99 / 100]), "allocations": counted.count_total,
    }));
    let us = median(|| store.list().len(), 1) / 1e3;
    tell(&json!({"what": "list of all", "objects": store.len(), "us": round(us)}));
}

fn time_index(store: &Store<Logger>) {
    let by_team = Index::with("by_team", |logger: &Logger| {
        logger
            .metadata
            .name
            .iter()
            .filter_map(|name| name.rsplit('-').next()?.parse::<usize>().ok())
            .map(|i| i % 100)
            .collect()
    });
    let start = Instant::now();
    let counted = measure(|| store.add_index(by_team.clone()).expect("its name is free"));
    let fill = start.elapsed().as_nanos() as f64 / store.len() as f64;
    let bytes = counted.bytes_current as f64 / store.len() as f64;
    let us = median(|| (0..100).map(|team| store.by_index(&by_team, &team).len()).sum(), 100) / 1e3;
    tell(&json!({
        "what": "list of one index value", "objects": EACH, "us": round(us), "fill_ns_per_object": round(fill),
        "bytes_per_object": round(bytes),
    }));
}

/// What cannot be done for less: pointers of 500 objects copied from a list of them.
fn time_floors(loggers: &[Arc<Logger>]) {
    let clone = || loggers.chunks(EACH).map(|namespace| black_box(namespace.to_vec()).len()).sum();
    let us = median(clone, NAMESPACES) / 1e3;
    tell(&json!({"what": "floor: 500 pointers cloned", "us": round(us)}));
}

/// Nanoseconds of one of so many, in the median round.
fn median(mut round: impl FnMut() -> usize, of: usize) -> f64 {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(round());
            start.elapsed().as_nanos() as f64 / of as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn tell(fact: &Value) {
    println!("{fact}");
}
