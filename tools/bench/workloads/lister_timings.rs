//! Time and allocations of store reads: 50,000 Loggers in 100 namespaces, as a reflector stores them.
//!
//! Prints one measurement per line as JSON. Times are medians of five rounds in nanoseconds, wall time and CPU time.
//! The programs of the peers choose their keys in the same way.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use allocation_counter::measure;
use bench::logger::Logger;
use kubewright_runtime::{Index, Lister, ObjectKey, Store};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

const NAMESPACES: usize = 100;
const PER_NAMESPACE: usize = 500;
const GETS: usize = 1_000_000;
const LISTS: usize = 1000;
const ROUNDS: usize = 5;

fn main() {
    let loggers = loggers();
    let mut store = Store::default();
    let (start, before) = (Instant::now(), cpu_time());
    let counted = measure(|| store = loggers.iter().cloned().collect());
    let each = |all: Duration| all.as_nanos() as f64 / loggers.len() as f64;
    let taken = Timing { wall_time: each(start.elapsed()), cpu_time: each(cpu_time().saturating_sub(before)) };
    let bytes = counted.bytes_current as f64 / loggers.len() as f64;
    report("fill, each object", &taken, json!({"objects": loggers.len(), "store_bytes_per_object": round(bytes)}));

    let picks = picks(&loggers);
    time_gets(&store, &picks);
    time_lists(&store);
    time_index(&store);
    time_lower_bound(&loggers);
}

/// Decodes the Loggers one by one, and without managedFields, as informers do by default.
fn loggers() -> Vec<Arc<Logger>> {
    let text = include_str!("../apis/example/v1/testdata/logger.json");
    let decode = |i: usize| {
        let mut logger: Logger = serde_json::from_str(text).expect("the file is a Logger");
        logger.metadata.name = Some(format!("logger-{i:06}"));
        logger.metadata.namespace = Some(format!("bench-{:03}", i / PER_NAMESPACE));
        logger.metadata.uid = Some(format!("00000000-0000-4000-8000-{i:012}"));
        logger.metadata.resource_version = Some((i + 1).to_string());
        logger.metadata.managed_fields = None;
        Arc::new(logger)
    };
    (0..NAMESPACES * PER_NAMESPACE).map(decode).collect()
}

/// Returns pseudorandom objects whose keys are looked up.
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
    let taken = median(|| picks.iter().filter(|logger| found(logger)).count(), GETS);
    let counted = measure(|| assert!(found(picks[0])));
    report("get", &taken, json!({"allocations": counted.count_total}));

    let lister = Lister::new(store.clone());
    let through_lister = |object: &Logger| {
        let (namespace, name) = name(object);
        lister.namespace(namespace).get(name).is_ok()
    };
    let taken = median(|| picks.iter().filter(|logger| through_lister(logger)).count(), GETS);
    report("get through a namespace lister", &taken, json!({}));

    let keys: Vec<_> = picks[..GETS / 5].iter().map(|logger| ObjectKey::from_object(logger.as_ref())).collect();
    let taken = median(|| keys.iter().filter(|key| store.get_by_key(key).is_some()).count(), keys.len());
    report("get by a key", &taken, json!({}));
}

fn time_lists(store: &Store<Logger>) {
    let namespaces: Vec<_> = (0..NAMESPACES).map(|i| format!("bench-{i:03}")).collect();
    let list = |nth: usize| store.list_namespace(&namespaces[nth % NAMESPACES]).len();
    let taken = median(|| (0..LISTS).map(list).sum(), LISTS);
    let mut each: Vec<_> = (0..LISTS)
        .map(|nth| {
            let start = Instant::now();
            assert_eq!(black_box(list(nth)), PER_NAMESPACE);
            start.elapsed().as_nanos()
        })
        .collect();
    each.sort_unstable();
    let (median_ns, p99) = (each[LISTS / 2], each[LISTS * 99 / 100]);
    let allocations = measure(|| assert_eq!(list(0), PER_NAMESPACE)).count_total;
    let more = json!({"objects": PER_NAMESPACE, "median_ns": median_ns, "p99_ns": p99, "allocations": allocations});
    report("list of one namespace", &taken, more);
    report("list of all", &median(|| store.list().len(), 1), json!({"objects": store.len()}));
}

fn time_index(store: &Store<Logger>) {
    let number = |name: &String| name.rsplit('-').next()?.parse::<usize>().ok();
    let by_team = Index::from_fn("by_team", move |logger: &Logger| {
        logger.metadata.name.iter().filter_map(number).map(|number| number % NAMESPACES).collect()
    });
    let start = Instant::now();
    let counted = measure(|| store.add_index(by_team).expect("the index name is unique"));
    let fill = start.elapsed().as_nanos() as f64 / store.len() as f64;
    let bytes = counted.bytes_current as f64 / store.len() as f64;
    let taken = median(|| (0..NAMESPACES).map(|team| store.by_index(&by_team, &team).len()).sum(), NAMESPACES);
    let more = json!({"objects": PER_NAMESPACE, "fill_ns_per_object": round(fill), "bytes_per_object": round(bytes)});
    report("list of one index value", &taken, more);
}

/// Measures the lower bound: copying the pointers of 500 objects.
fn time_lower_bound(loggers: &[Arc<Logger>]) {
    let clone = || loggers.chunks(PER_NAMESPACE).map(|namespace| black_box(namespace.to_vec()).len()).sum();
    report("lower bound: pointers cloned", &median(clone, NAMESPACES), json!({"objects": PER_NAMESPACE}));
}

/// Wall time and CPU time of one operation in nanoseconds, each of its median round.
struct Timing {
    wall_time: f64,
    cpu_time: f64,
}

fn median(mut round: impl FnMut() -> usize, iterations: usize) -> Timing {
    let (mut wall_time, mut cpu_time): (Vec<_>, Vec<_>) = (0..ROUNDS)
        .map(|_| {
            let (start, before) = (Instant::now(), cpu_time());
            black_box(round());
            let each = |all: Duration| all.as_nanos() as f64 / iterations as f64;
            (each(start.elapsed()), each(cpu_time().saturating_sub(before)))
        })
        .unzip();
    wall_time.sort_by(f64::total_cmp);
    cpu_time.sort_by(f64::total_cmp);
    Timing { wall_time: wall_time[ROUNDS / 2], cpu_time: cpu_time[ROUNDS / 2] }
}

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn report(what: &str, taken: &Timing, mut more: Value) {
    more["what"] = what.into();
    more["ns"] = round(taken.wall_time).into();
    more["cpu_ns"] = round(taken.cpu_time).into();
    println!("{more}");
}
