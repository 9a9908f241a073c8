//! Throughput and cost of the fsyncs of the journal, next to a buffered writer without checksums and fsyncs, and next
//! to an fsync for each record.
//!
//! `cargo bench -p logger-agent [-- DIRECTORY [RECORDS]]` prints a Markdown table. The directory is on the measured
//! disk; by default it is the one for temporary files, which may be in memory.

use std::{
    env,
    error::Error,
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use logger_agent::{
    Draft, Journal, JournalConfig, Source,
    file_system::Disk,
    journal::{Acknowledgement, AppendError, Durability},
    metrics::Metrics,
    record,
    segment::Series,
};
use tokio::{runtime, task::JoinSet};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The runs of each variant. The median is printed.
const ROUNDS: usize = 5;

const RECORDS: u32 = 20_000;

/// Variants with an fsync for each record write fewer records.
const FSYNC_DIVISOR: u32 = 20;

/// A short audit event.
const BODY: &str = concat!(
    r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"5f4d1a9e-6f0b","#,
    r#""stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/default/deployments/web","verb":"patch","#,
    r#""user":{"username":"jane","uid":"5f4d1a9e","groups":["developers","system:authenticated"]},"#,
    r#""sourceIPs":["192.0.2.7"],"userAgent":"kubectl/v1.36.0 (linux/amd64) kubernetes/0000000","#,
    r#""objectRef":{"resource":"deployments","namespace":"default","name":"web","apiGroup":"apps","apiVersion":"v1"},"#,
    r#""responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000000Z"}"#
);

/// One way of writing records.
struct Variant {
    name: &'static str,
    divisor: u32,
    run: fn(&Path, u32) -> Result<Duration>,
}

const VARIANTS: [Variant; 5] = [
    Variant { name: "BufWriter, no fsync", divisor: 1, run: buffered },
    Variant { name: "journal, 1 s interval, 1 client that does not wait", divisor: 1, run: written },
    Variant { name: "journal, fsync per record, 256 clients", divisor: 1, run: many_clients },
    Variant { name: "journal, fsync per record, 1 client", divisor: FSYNC_DIVISOR, run: one_client },
    Variant { name: "write and fsync per record", divisor: FSYNC_DIVISOR, run: synchronized },
];

fn main() -> Result<()> {
    // `cargo bench` adds the flag `--bench`.
    let mut arguments = env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let parent = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let records = arguments.next().map_or(Ok(RECORDS), |text| text.parse::<NonZeroU32>().map(NonZeroU32::get))?;
    println!("| variant | records/s | µs per record |\n|---|---|---|");
    for Variant { name, divisor, run } in VARIANTS {
        let count = (records / divisor).max(1);
        let mut micros = Vec::new();
        for _ in 0..ROUNDS {
            let directory = tempfile::tempdir_in(&parent)?;
            micros.push(run(directory.path(), count)?.as_secs_f64() * 1e6 / f64::from(count));
        }
        micros.sort_by(f64::total_cmp);
        let median = micros[ROUNDS / 2];
        println!("| {name} | {:.0} | {median:.2} |", 1e6 / median);
    }
    Ok(())
}

fn draft() -> Result<Draft> {
    Ok(Draft::new(Source::Audit, None, serde_json::from_str(BODY)?))
}

fn buffered(directory: &Path, records: u32) -> Result<Duration> {
    let mut file = BufWriter::new(File::create(directory.join("records"))?);
    let start = Instant::now();
    for _ in 0..records {
        writeln!(file, "{BODY}")?;
    }
    file.flush()?;
    Ok(start.elapsed())
}

fn synchronized(directory: &Path, records: u32) -> Result<Duration> {
    let mut file = OpenOptions::new().append(true).create(true).open(directory.join("records"))?;
    let (draft, start) = (draft()?, Instant::now());
    for sequence in 0..records {
        file.write_all(record::encode(u64::from(sequence), Timestamp::now(), &draft).as_bytes())?;
        file.sync_data()?;
    }
    Ok(start.elapsed())
}

fn written(directory: &Path, records: u32) -> Result<Duration> {
    journal(directory, records, 1, Durability::Interval, Acknowledgement::Written)
}

fn many_clients(directory: &Path, records: u32) -> Result<Duration> {
    journal(directory, records, 256, Durability::Record, Acknowledgement::Durable)
}

fn one_client(directory: &Path, records: u32) -> Result<Duration> {
    journal(directory, records, 1, Durability::Record, Acknowledgement::Durable)
}

/// Appends records by concurrent clients, each of which waits for its response. The last fsync is included.
fn journal(
    directory: &Path,
    records: u32,
    clients: u32,
    durability: Durability,
    acknowledgement: Acknowledgement,
) -> Result<Duration> {
    let config = JournalConfig { durability, ..JournalConfig::new(Duration::from_secs(1)) };
    let series = Series::new(directory, "bench", "0")?;
    let (journal, thread) = Journal::open(Arc::new(Disk), series, config, Arc::new(Metrics::new()))?;
    let (draft, start) = (draft()?, Instant::now());
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for client in 0..clients {
            let (journal, draft) = (journal.clone(), draft.clone());
            let count = records / clients + u32::from(client < records % clients);
            tasks.spawn(append(journal, draft, count, acknowledgement));
        }
        for result in tasks.join_all().await {
            result?;
        }
        thread.stop().await?;
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(start.elapsed())
}

async fn append(
    journal: Journal,
    draft: Draft,
    count: u32,
    acknowledgement: Acknowledgement,
) -> std::result::Result<(), AppendError> {
    for _ in 0..count {
        let reservation = journal.reserve(draft.body().len())?;
        journal.append(vec![draft.clone()], acknowledgement, reservation).await?;
    }
    Ok(())
}
