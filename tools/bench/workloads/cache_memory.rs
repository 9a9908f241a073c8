//! Memory and latency of an informer in one process with a generated list, held decoded or as compact objects.
//!
//! `cache-memory plain|compact OBJECTS [small]` prints one measurement per line as JSON. Objects have 2.8 kB, or 1 kB
//! with `small`. The CPU time of generating the list is measured before, and subtracted.

use std::{
    convert::Infallible,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use bench::{
    logger::Logger,
    measure::{REPETITIONS, cpu_time, memory, micros, report, scattered},
};
use bytes::Bytes;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use kubewright_runtime::{
    Memory, SharedInformer, Store,
    informer::Config,
    kube::{Api, Client, client::Body},
};
use serde_json::{Value, json};

const TEMPLATE: &str = include_str!("../apis/example/v1/testdata/logger.json");
const LIST_START: &str =
    r#"{"apiVersion":"example.com/v1","kind":"LoggerList","metadata":{"resourceVersion":"9000000"},"items":["#;
const NAMESPACES: usize = 100;
/// The number of objects in a chunk of the response.
const CHUNK: usize = 50;
/// The numbers of measured reads.
const COLD_GETS: usize = 20_000;
const HOT_GETS: usize = 1_000_000;
const HOT_OBJECTS: usize = 100;
/// Exceeds the duration of a sync on a busy machine.
const DEADLINE: Duration = Duration::from_mins(10);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (memory, count, is_small) = match args.as_slice() {
        [memory, count] => (*memory, *count, false),
        [memory, count, "small"] => (*memory, *count, true),
        _ => bail!("usage: cache-memory plain|compact OBJECTS [small]"),
    };
    let memory = match memory {
        "plain" => Memory::Plain,
        "compact" => Memory::Compact,
        other => bail!("unknown memory `{other}`; use `plain` or `compact`"),
    };
    let objects = Objects::new(count.parse().context("the number of objects is invalid")?, is_small)?;
    tokio::runtime::Runtime::new()?.block_on(run(memory, objects))
}

async fn run(memory: Memory, objects: Objects) -> Result<()> {
    let before = cpu_time();
    let bytes: usize = (0..objects.chunks()).map(|nth| black_box(objects.chunk(nth)).len()).sum();
    let generation = cpu_time() - before;
    let count = objects.count;
    let informer = sync(memory, objects, generation, bytes).await?;
    let store = informer.store();
    ensure!(store.len() == count, "{} of {count} objects", store.len());
    time_gets(&store, count)?;
    time_lists(&store, count);
    Ok(())
}

/// Syncs an informer with one handler.
async fn sync(memory: Memory, objects: Objects, generation: Duration, bytes: usize) -> Result<SharedInformer<Logger>> {
    let count = objects.count;
    let api = Api::all(client(Arc::new(objects)));
    let informer = SharedInformer::<Logger>::with_config([api], Config::default().memory(memory));
    let received = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&received);
    let handler = informer.add_event_handler(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    })?;
    let (start, before) = (Instant::now(), cpu_time());
    let running = informer.clone();
    let run = tokio::spawn(async move { running.run(kubewright_runtime::CancellationToken::new()).await });
    informer.wait_for_sync_within(DEADLINE).await?;
    handler.wait_for_sync().await?;
    let (elapsed, taken) = (start.elapsed(), (cpu_time() - before).saturating_sub(generation));
    ensure!(received.load(Ordering::Relaxed) == count && !run.is_finished(), "the handler misses objects");
    let peak = self::memory("VmHWM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let settled = self::memory("VmRSS");
    report(
        "sync",
        json!({
            "objects": count, "bytes_per_object": bytes as f64 / count as f64,
            "elapsed_s": elapsed.as_secs_f64(), "cpu_s": taken.as_secs_f64(),
            "cpu_us_per_object": micros(taken) / count as f64, "generation_cpu_s": generation.as_secs_f64(),
            "peak_mb": peak, "settled_mb": settled, "settled_bytes_per_object": settled * 1e6 / count as f64,
        }),
    );
    Ok(informer)
}

fn time_gets(store: &Store<Logger>, count: usize) -> Result<()> {
    let get = |number: usize| {
        let object = store.get(&namespace(number), &name(number));
        black_box(object).context("an object is missing").map(drop)
    };
    for repetition in 0..REPETITIONS {
        let cold: Vec<_> =
            scattered(COLD_GETS * REPETITIONS, count).skip(COLD_GETS * repetition).take(COLD_GETS).collect();
        let before = cpu_time();
        cold.iter().try_for_each(|number| get(*number))?;
        report("get_cold", json!({ "us": micros(cpu_time() - before) / COLD_GETS as f64 }));
    }
    let keys: Vec<_> = scattered(HOT_OBJECTS, count).map(|number| (namespace(number), name(number))).collect();
    for _ in 0..REPETITIONS {
        let before = cpu_time();
        for (namespace, name) in keys.iter().cycle().take(HOT_GETS) {
            black_box(store.get(namespace, name)).context("an object is missing")?;
        }
        report("get_hot", json!({ "us": micros(cpu_time() - before) / HOT_GETS as f64 }));
    }
    Ok(())
}

/// Lists each namespace once per repetition. There are too many objects for them to be hot the next time.
fn time_lists(store: &Store<Logger>, count: usize) {
    for _ in 0..REPETITIONS {
        let before = cpu_time();
        for nth in 0..NAMESPACES {
            assert!(black_box(store.list_namespace(&namespace(nth))).len() >= count / NAMESPACES);
        }
        let each = micros(cpu_time() - before) / 1e3 / NAMESPACES as f64;
        report("list_namespace", json!({ "ms": each, "objects": count / NAMESPACES }));
    }
}

fn namespace(number: usize) -> String {
    format!("bench-{:03}", number % NAMESPACES)
}

fn name(number: usize) -> String {
    format!("logger-{number:06}")
}

/// Generated Loggers, as texts of JSON.
struct Objects {
    /// The text between the values, and the value that follows each piece.
    pieces: Vec<(String, Option<Field>)>,
    count: usize,
}

/// A value that differs between objects.
#[derive(Clone, Copy)]
enum Field {
    Hash,
    Name,
    Namespace,
    Owner,
    Team,
    Uid,
    Value,
    Version,
}

/// The texts of the template that stand for values.
const FIELDS: [(&str, Field); 8] = [
    ("0000000000000000000000000000000000000000000000000000000000000007", Field::Hash),
    ("logger-000007", Field::Name),
    ("bench-007", Field::Namespace),
    ("owner-007", Field::Owner),
    ("team-07", Field::Team),
    ("0f7f3a52-8e0b-4b5e-9d9e-5f2c8a1b7d43", Field::Uid),
    ("-7\"", Field::Value),
    ("1234567", Field::Version),
];

impl Objects {
    fn new(count: usize, is_small: bool) -> Result<Objects> {
        let text = if is_small { small_template()? } else { TEMPLATE.trim().to_owned() };
        let mut pieces = vec![(text, None)];
        for (pattern, field) in FIELDS {
            pieces = pieces.into_iter().flat_map(|piece| split(piece, pattern, field)).collect();
        }
        Ok(Objects { pieces, count })
    }

    fn chunks(&self) -> usize {
        self.count.div_ceil(CHUNK)
    }

    /// Returns a chunk of the response to a list.
    fn chunk(&self, nth: usize) -> String {
        let mut text = String::with_capacity(CHUNK * 3000);
        if nth == 0 {
            text += LIST_START;
        }
        for number in (nth * CHUNK..self.count).take(CHUNK) {
            if number > 0 {
                text.push(',');
            }
            for (piece, field) in &self.pieces {
                text += piece;
                text += &field.map_or_else(String::new, |field| field.value(number));
            }
        }
        if nth + 1 == self.chunks() {
            text += "]}";
        }
        text
    }
}

/// Returns the template without status, annotations and managed fields: about 1 kB.
fn small_template() -> Result<String> {
    let mut object: Value = serde_json::from_str(TEMPLATE)?;
    object.as_object_mut().context("the template is an object")?.remove("status");
    let metadata = object["metadata"].as_object_mut().context("the template has metadata")?;
    for field in ["annotations", "managedFields"] {
        metadata.remove(field);
    }
    Ok(object.to_string())
}

/// Splits a piece at each occurrence of the pattern of a field.
fn split((text, last): (String, Option<Field>), pattern: &str, field: Field) -> Vec<(String, Option<Field>)> {
    let mut pieces: Vec<_> = text.split(pattern).map(|piece| (piece.to_owned(), Some(field))).collect();
    if let Some(piece) = pieces.last_mut() {
        piece.1 = last;
    }
    pieces
}

impl Field {
    fn value(self, number: usize) -> String {
        let random = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match self {
            Field::Hash => format!("{random:064x}"),
            Field::Name => name(number),
            Field::Namespace => namespace(number),
            Field::Owner => format!("owner-{:03}", number % 300),
            Field::Team => format!("team-{:02}", number % 40),
            Field::Uid => format!("{:08x}-8e0b-4b5e-9d9e-{:012x}", random >> 32, random & 0xffff_ffff_ffff),
            Field::Value => format!("-{}\"", number % 100),
            Field::Version => (1_000_000 + number).to_string(),
        }
    }
}

type Chunks = BoxStream<'static, Result<Frame<Bytes>, Infallible>>;

/// Returns a client of a server that lists the objects and sends no events.
fn client(objects: Arc<Objects>) -> Client {
    let respond = move |request: Request<Body>| {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch="));
        let objects = Arc::clone(&objects);
        let chunks = (0..objects.chunks()).map(move |nth| Ok(Frame::data(Bytes::from(objects.chunk(nth)))));
        let chunks: Chunks = if is_watch { stream::pending().boxed() } else { stream::iter(chunks).boxed() };
        std::future::ready(Ok::<_, Infallible>(Response::new(StreamBody::new(chunks))))
    };
    Client::new(tower::service_fn(respond), "default")
}
