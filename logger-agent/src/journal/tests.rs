//! Tests of the writer on a simulated disk.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use proptest::prelude::*;
use tokio::sync::oneshot;

use super::{
    Acknowledgement, AppendError, Durability, Journal, JournalConfig, Now, Receipt,
    request::{Budget, Request},
    simulated_disk::SimulatedDisk,
    status::Status,
    writer::Writer,
};
use crate::{
    file_system::FileSystem,
    metrics::{Metrics, Removed},
    record::{self, Draft, MAX_SEQUENCE, Record, Source},
    segment::{self, Series},
};

type Reply = oneshot::Receiver<Result<Receipt, AppendError>>;

const INTERVAL: Duration = Duration::from_secs(10);

/// The number of bytes that can be reserved.
const BYTES: usize = 1_000_000;

/// A writer with a simulated clock.
struct Fixture {
    disk: SimulatedDisk,
    config: JournalConfig,
    metrics: Arc<Metrics>,
    writer: Writer,
    now: Now,
    budget: Budget,
}

fn config() -> JournalConfig {
    JournalConfig { durability: Durability::Record, ..JournalConfig::new(INTERVAL) }
}

fn series() -> Series {
    Series::new("/data", "access", "0").unwrap()
}

fn recover(disk: &SimulatedDisk, config: &JournalConfig, metrics: &Arc<Metrics>) -> Writer {
    let (files, status) = (Arc::new(disk.clone()), Arc::new(Status::default()));
    Writer::recover(files, series(), config.clone(), Arc::clone(metrics), status).unwrap()
}

impl Fixture {
    fn new(config: JournalConfig) -> Self {
        let (disk, metrics) = (SimulatedDisk::default(), Arc::new(Metrics::new()));
        let writer = recover(&disk, &config, &metrics);
        let now = Now { instant: Instant::now(), time: "2026-01-02T03:04:05Z".parse().unwrap() };
        Fixture { disk, config, metrics, writer, now, budget: Budget::new(BYTES) }
    }

    /// Starts a new process on the same disk.
    fn restart(&mut self) {
        self.metrics = Arc::new(Metrics::new());
        self.writer = recover(&self.disk, &self.config, &self.metrics);
    }

    /// Appends a record without a tick.
    fn submit(&mut self, id: Option<&str>, body: &str, acknowledgement: Acknowledgement) -> Reply {
        let (reply, receipt) = oneshot::channel();
        let draft = Draft::new(Source::Activity, id.map(str::to_owned), serde_json::from_str(body).unwrap());
        let reservation = self.budget.reserve(1).unwrap();
        let request = Request { drafts: vec![draft], acknowledgement, reply, reservation };
        self.writer.append(request, self.now);
        receipt
    }

    /// Appends a record and ticks.
    fn append(&mut self, id: Option<&str>, body: &str) -> Reply {
        let reply = self.submit(id, body, Acknowledgement::Durable);
        self.advance(Duration::ZERO);
        reply
    }

    fn advance(&mut self, time: Duration) {
        self.now.instant += time;
        self.now.time += time;
        self.writer.tick(self.now.instant);
    }

    /// Returns all valid records in the order of the segments.
    fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (_, bytes) in self.disk.contents() {
            segment::scan(&bytes[..], |_, record| records.extend(record)).unwrap();
        }
        records
    }

    fn sequences(&self) -> Vec<u64> {
        self.records().iter().map(|record| record.sequence).collect()
    }

    /// Returns the first sequence numbers of the segments.
    fn segments(&self) -> Vec<u64> {
        let paths = self.disk.contents().into_iter().map(|(path, _)| path);
        paths.filter_map(|path| series().parse(path.file_name()?.to_str()?)).collect()
    }

    fn last_path(&self) -> PathBuf {
        self.disk.contents().pop().unwrap().0
    }
}

fn receipt(mut reply: Reply) -> Result<Receipt, AppendError> {
    reply.try_recv().expect("the client is notified")
}

fn sequence(reply: Reply) -> u64 {
    receipt(reply).unwrap().first.unwrap()
}

#[test]
fn an_acknowledged_record_is_durable() {
    let mut fixture = Fixture::new(config());
    assert_eq!(sequence(fixture.append(None, "{}")), 0);
    let unacknowledged = fixture.submit(None, "{}", Acknowledgement::Written);
    assert_eq!(sequence(unacknowledged), 1, "written, but not durable");
    fixture.disk.lose_power(0);
    fixture.restart();
    assert_eq!(fixture.sequences(), [0]);
    assert_eq!(sequence(fixture.append(None, "{}")), 1, "the sequence continues");
}

#[test]
fn records_of_an_interval_share_an_fsync_unless_a_client_waits() {
    let mut fixture = Fixture::new(JournalConfig::new(INTERVAL));
    drop(fixture.submit(None, "{}", Acknowledgement::Written));
    let mut waiting = fixture.submit(None, "{}", Acknowledgement::Durable);
    fixture.advance(Duration::from_millis(999));
    assert!(waiting.try_recv().is_err());
    fixture.advance(Duration::from_millis(1));
    assert_eq!(sequence(waiting), 1);
    drop(fixture.submit(None, "{}", Acknowledgement::Written));
    fixture.advance(INTERVAL - Duration::from_millis(1));
    let fsyncs = |fixture: &Fixture| fixture.metrics.text().contains("logger_agent_fsync_seconds_count 2\n");
    assert!(!fsyncs(&fixture));
    fixture.advance(Duration::from_millis(1));
    assert!(fsyncs(&fixture));
}

#[test]
fn a_full_segment_is_closed_and_the_next_one_has_the_next_sequence_number() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 250, ..config() });
    (0..6).for_each(|_| drop(fixture.append(None, "{}")));
    assert_eq!(fixture.segments(), [0, 2, 4]);
    fixture.disk.lose_power(0);
    assert_eq!(fixture.sequences(), [0, 1, 2, 3, 4, 5]);
    fixture.restart();
    drop(fixture.append(None, "{}"));
    assert_eq!(fixture.segments(), [0, 2, 4, 6], "the last segment is full");
}

#[test]
fn a_restart_continues_the_last_segment() {
    let mut fixture = Fixture::new(config());
    for _ in 0..3 {
        drop(fixture.append(None, "{}"));
        fixture.restart();
    }
    assert_eq!((fixture.segments(), fixture.sequences()), (vec![0], vec![0, 1, 2]));
}

#[test]
fn an_old_segment_is_closed() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    fixture.advance(fixture.config.segment_age);
    drop(fixture.append(None, "{}"));
    assert_eq!(fixture.segments(), [0, 1]);
}

#[test]
fn the_oldest_segments_are_removed_by_size_and_by_age() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, retention_bytes: 350, ..config() });
    (0..6).for_each(|_| drop(fixture.append(None, "{}")));
    assert_eq!(fixture.segments(), [3, 4, 5], "of 92 bytes each");
    assert_eq!(fixture.metrics.removed_by(Removed::Bytes), 3);
    fixture.advance(fixture.config.retention_age * 2);
    assert_eq!(fixture.segments(), [5], "the last segment was closed just now");
    fixture.advance(fixture.config.retention_age * 2);
    assert_eq!(fixture.segments(), Vec::<u64>::new());
    assert_eq!(sequence(fixture.append(None, "{}")), 6);
}

#[test]
fn a_full_disk_costs_the_oldest_closed_segment_and_then_rejects_records() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    (0..3).for_each(|_| drop(fixture.append(None, "{}")));
    fixture.disk.state().capacity = Some(350);
    assert_eq!(sequence(fixture.append(None, "{}")), 3);
    assert_eq!(fixture.segments(), [1, 2, 3]);
    assert_eq!(fixture.metrics.removed_by(Removed::NoSpace), 1);
    fixture.disk.state().capacity = Some(1);
    let error = receipt(fixture.append(None, "{}")).unwrap_err();
    assert!(matches!(error, AppendError::Write(_)), "{error}");
    assert_eq!(fixture.metrics.dropped_count(), 1);
    assert_eq!(fixture.budget.available(), BYTES, "a rejected record reserves nothing");
    fixture.disk.state().capacity = None;
    assert_eq!(sequence(fixture.append(None, "{}")), 4, "a rejected record has no sequence number");
}

#[tokio::test]
async fn records_that_are_not_durable_are_bounded_with_their_lines() {
    let config = JournalConfig { max_unacknowledged_bytes: 1000, ..JournalConfig::new(INTERVAL) };
    let disk = Arc::new(SimulatedDisk::default());
    let (journal, thread) = Journal::open(disk, series(), config, Arc::new(Metrics::new())).unwrap();
    let mut written = 0;
    let error = loop {
        let draft = Draft::new(Source::Activity, None, serde_json::from_str("{}").unwrap());
        let reservation = journal.reserve(draft.body().len()).unwrap();
        match journal.append(vec![draft], Acknowledgement::Written, reservation).await {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, AppendError::Full), "{error}");
    assert_eq!(written, 5, "each line counts with 194 bytes");
    thread.stop().await.unwrap();
}

#[test]
fn a_flood_of_activity_leaves_space_for_audit_events_on_a_small_disk() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, leaves_space: true, ..config() });
    fixture.disk.state().capacity = Some(3000);
    for _ in 0..100 {
        drop(fixture.append(None, "{}"));
        let space = fixture.disk.space(&PathBuf::from("/data")).unwrap().unwrap();
        assert!(space.available >= 3000 / 8 - 100, "{space:?}");
    }
    plant(&fixture, MAX_SEQUENCE, &"x".repeat(200));
    fixture.advance(Duration::from_secs(60));
    let space = fixture.disk.space(&PathBuf::from("/data")).unwrap().unwrap();
    assert!(space.available >= 3000 / 8, "another file uses space: {space:?}");
}

#[tokio::test]
async fn records_that_use_all_memory_do_not_stop_heartbeats() {
    let disk = Arc::new(SimulatedDisk::default());
    let (journal, thread) = Journal::open(disk, series(), config(), Arc::new(Metrics::new())).unwrap();
    let all = journal.reserve(usize::MAX).unwrap();
    assert_eq!(journal.reserve(1).unwrap_err(), AppendError::Full);
    let draft = Draft::new(Source::Heartbeat, None, serde_json::from_str("{}").unwrap());
    let reservation = journal.reserve_heartbeat(draft.body().len()).unwrap();
    journal.append(vec![draft], Acknowledgement::Durable, reservation).await.unwrap();
    drop(all);
    thread.stop().await.unwrap();
}

#[test]
fn a_part_of_a_record_is_removed_from_a_full_disk() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    let size = fixture.disk.contents()[0].1.len();
    fixture.disk.state().capacity = Some(size + 10);
    assert!(receipt(fixture.append(None, "{}")).is_err());
    assert_eq!(fixture.disk.contents()[0].1.len(), size);
    fixture.disk.state().capacity = None;
    drop(fixture.append(None, "{}"));
    assert_eq!(fixture.sequences(), [0, 1]);
}

#[test]
fn a_failed_append_continues_in_a_new_segment() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    fixture.disk.state().failing_appends = 1;
    assert_eq!(sequence(fixture.append(None, "{}")), 1);
    assert_eq!((fixture.segments(), fixture.sequences()), (vec![0, 1], vec![0, 1]));
}

#[test]
fn after_a_failed_fsync_the_records_are_written_to_a_new_segment() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    fixture.disk.state().failing_syncs = 1;
    assert_eq!(sequence(fixture.append(None, "{}")), 1);
    assert_eq!(fixture.segments(), [0, 1]);
    fixture.disk.lose_power(0);
    fixture.restart();
    assert_eq!(fixture.sequences(), [0, 1], "an fsync is never repeated on the same file");
}

#[test]
fn records_that_cannot_be_made_durable_are_not_acknowledged_and_retried() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    fixture.disk.state().failing_syncs = usize::MAX;
    let error = receipt(fixture.append(Some("a"), "{}")).unwrap_err();
    assert!(matches!(error, AppendError::NotDurable(_)), "{error}");
    assert_eq!(fixture.segments(), [0], "no segment remains of the attempts");
    fixture.disk.state().failing_syncs = 0;
    let duplicate = fixture.append(Some("a"), "{}");
    fixture.advance(Duration::from_secs(1));
    assert_eq!(receipt(duplicate), Ok(Receipt { duplicates: 1, ..Receipt::default() }), "after the pending record");
    fixture.disk.lose_power(0);
    assert_eq!(fixture.sequences(), [0, 1]);
}

#[test]
fn a_clock_that_steps_back_does_not_reorder_records() {
    let mut fixture = Fixture::new(config());
    drop(fixture.append(None, "{}"));
    fixture.now.time -= Duration::from_secs(3600);
    drop(fixture.append(None, "{}"));
    drop(fixture.append(None, "{}"));
    let records = fixture.records();
    assert_eq!(fixture.sequences(), [0, 1, 2]);
    assert!(records[1].time < records[0].time);
    assert!(fixture.metrics.text().contains("logger_agent_clock_steps_total 1\n"));
    let text = "access_0-00000000000000000000.ndjson: from 2026-01-02T03:04:05Z to 2026-01-02T02:04:05Z";
    assert_eq!(fixture.writer.status().clock_step(), Some((fixture.now.instant, text.to_owned())));
}

#[test]
fn ids_are_written_once_also_after_a_restart() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    for id in ["a", "b", "c"] {
        assert_eq!(receipt(fixture.append(Some(id), "{}")).unwrap().records, 1);
    }
    fixture.restart();
    for id in ["a", "b", "c"] {
        assert_eq!(receipt(fixture.append(Some(id), "{}")), Ok(Receipt { duplicates: 1, ..Receipt::default() }));
    }
    fixture.config.remembered_ids = NonZeroUsize::new(1).unwrap();
    fixture.restart();
    assert_eq!(receipt(fixture.append(Some("c"), "{}")).unwrap().duplicates, 1, "the latest id");
    assert_eq!(receipt(fixture.append(Some("a"), "{}")).unwrap().records, 1, "a forgotten id");
}

#[test]
fn a_log_truncated_at_any_byte_continues_after_its_last_complete_record() {
    let mut fixture = Fixture::new(config());
    (0..3).for_each(|_| drop(fixture.append(None, "{\"user\":\"jane\"}")));
    let (path, bytes) = fixture.disk.contents().pop().unwrap();
    for length in 0..=bytes.len() {
        fixture.disk.edit(&path, |content| *content = bytes[..length].to_vec());
        let complete = bytes[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
        fixture.restart();
        assert_eq!(sequence(fixture.append(None, "{}")), complete, "{length} bytes");
        assert_eq!(fixture.sequences(), (0..=complete).collect::<Vec<_>>(), "{length} bytes");
        let (_, content) = fixture.disk.contents().pop().unwrap();
        let scan = segment::scan(&content[..], |_, _| {}).unwrap();
        assert_eq!((scan.corrupt_lines, scan.torn_bytes()), (0, 0), "{length} bytes");
    }
}

#[test]
fn a_corrupt_record_costs_no_other_one_and_no_sequence_number_is_used_twice() {
    for line in 0..3 {
        let mut fixture = Fixture::new(config());
        (0..3).for_each(|_| drop(fixture.append(None, "{\"user\":\"jane\"}")));
        let size = fixture.disk.contents()[0].1.len() / 3;
        fixture.disk.edit(&fixture.last_path(), |content| content[line * size + 20] ^= 1);
        fixture.restart();
        assert!(fixture.metrics.text().contains("logger_agent_corrupt_lines_total 1\n"));
        assert_eq!(sequence(fixture.append(None, "{}")), 3);
        let expected: Vec<_> = (0..4).filter(|sequence| *sequence != line as u64).collect();
        assert_eq!(fixture.sequences(), expected);
        assert_eq!(fixture.segments(), [0, 3], "a corrupt segment is not continued");
    }
}

#[test]
fn a_corrupt_segment_is_reported_until_it_is_removed() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    (0..3).for_each(|_| drop(fixture.append(None, "{}")));
    let contents = fixture.disk.contents();
    for (path, _) in &contents[..2] {
        fixture.disk.edit(path, |content| content[20] ^= 1);
    }
    fixture.restart();
    assert_eq!(fixture.segments(), [0, 1, 2]);
    assert!(fixture.metrics.text().contains("logger_agent_corrupt_lines_total 2\n"));
    let text = "access_0-00000000000000000000.ndjson: 1 of 1 lines are not valid records; other corrupt segments: 1";
    assert_eq!(fixture.writer.status().corrupt_segment().as_deref(), Some(text));

    let bytes: usize = contents.iter().map(|(_, bytes)| bytes.len()).sum();
    fixture.config.retention_bytes = bytes as u64 - 1;
    fixture.restart();
    assert_eq!(fixture.segments(), [1, 2]);
    let text = "access_0-00000000000000000001.ndjson: 1 of 1 lines are not valid records";
    assert_eq!(fixture.writer.status().corrupt_segment().as_deref(), Some(text));

    fixture.config.retention_bytes = 1;
    fixture.restart();
    assert_eq!(fixture.segments(), [2]);
    assert_eq!(fixture.writer.status().corrupt_segment(), None);
}

/// Creates a segment that the writer did not create.
fn plant(fixture: &Fixture, first: u64, content: &str) {
    let mut file = fixture.disk.create(&series().path(first)).unwrap();
    file.append(content.as_bytes()).unwrap();
}

#[test]
fn a_file_with_the_highest_sequence_number_erases_no_record() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    drop(fixture.append(None, "{}"));
    fixture.disk.create(&series().path(u64::MAX)).unwrap();
    fixture.restart();
    (0..3).for_each(|_| drop(fixture.append(None, "{}")));
    assert_eq!(fixture.sequences(), [0, 1, 2, 3]);
    let body = serde_json::from_str("{}").unwrap();
    let draft = Draft::new(Source::Activity, None, body);
    let line = record::encode(u64::MAX, fixture.now.time, &draft);
    let path = fixture.disk.contents().into_iter().rev().nth(1).unwrap().0;
    fixture.disk.edit(&path, |content| content.extend(line.bytes()));
    fixture.restart();
    (0..2).for_each(|_| drop(fixture.append(None, "{}")));
    assert_eq!(fixture.sequences(), [0, 1, 2, 3, 5, 6], "the forged line counts as one");
}

#[test]
fn the_last_sequence_number_is_a_start_error() {
    let fixture = Fixture::new(config());
    let draft = Draft::new(Source::Activity, None, serde_json::from_str("{}").unwrap());
    plant(&fixture, MAX_SEQUENCE, &record::encode(MAX_SEQUENCE, fixture.now.time, &draft));
    let (files, status) = (Arc::new(fixture.disk.clone()), Arc::new(Status::default()));
    let error = Writer::recover(files, series(), config(), Arc::clone(&fixture.metrics), status).unwrap_err();
    assert!(error.to_string().starts_with("the sequence numbers end with the segment `"), "{error}");
}

#[test]
fn a_planted_segment_with_records_is_not_truncated() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    drop(fixture.append(None, "{}"));
    let content = "important\n";
    plant(&fixture, 1, content);
    let error = receipt(fixture.append(None, "{}")).unwrap_err();
    assert!(error.to_string().ends_with("of the next record exists and has records"), "{error}");
    assert_eq!(fixture.disk.contents()[1].1, content.as_bytes());
    fixture.disk.edit(&series().path(1), Vec::clear);
    assert_eq!(sequence(fixture.append(None, "{}")), 1, "an empty file is used");
}

#[test]
fn a_clock_that_is_ahead_at_the_start_removes_no_segment() {
    let mut fixture = Fixture::new(JournalConfig { segment_bytes: 100, ..config() });
    (0..3).for_each(|_| drop(fixture.append(None, "{}")));
    // For a clock that is ahead, the segments were changed long ago.
    let hour = Duration::from_secs(3600);
    for (number, (path, _)) in (0..).zip(fixture.disk.contents()) {
        fixture.disk.set_modified(&path, SystemTime::now() - fixture.config.retention_age * 2 + hour * number);
    }
    fixture.restart();
    fixture.advance(Duration::ZERO);
    assert_eq!(fixture.segments(), [0, 1, 2]);
    // A process whose clock was ahead has changed the last one.
    fixture.disk.set_modified(&fixture.last_path(), SystemTime::now());
    fixture.restart();
    fixture.advance(Duration::ZERO);
    assert_eq!(fixture.segments(), [0, 1, 2]);
    fixture.advance(fixture.config.retention_age - hour);
    assert_eq!(fixture.segments(), [1, 2], "its age is two hours more than the time since the start");
}

/// What can happen to a journal.
#[derive(Clone, Debug)]
enum Step {
    Append {
        id: Option<u8>,
        size: usize,
        is_durable: bool,
    },
    Advance(u64),
    FailSyncs(usize),
    FailAppends(usize),
    /// The process is killed: what it wrote remains.
    Kill,
    LosePower {
        kept_tail: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (prop::option::of(0_u8..8), 0_usize..300, any::<bool>())
            .prop_map(|(id, size, is_durable)| Step::Append { id, size, is_durable }),
        4 => (0_u64..12_000).prop_map(Step::Advance),
        1 => (1_usize..4).prop_map(Step::FailSyncs),
        1 => (1_usize..4).prop_map(Step::FailAppends),
        1 => Just(Step::Kill),
        1 => (0_usize..600).prop_map(|kept_tail| Step::LosePower { kept_tail }),
    ]
}

/// The replies that are not known yet, with the bodies of their records.
type Waiting = Vec<(Reply, String)>;

/// Adds the acknowledged records.
fn collect(waiting: &mut Waiting, acknowledged: &mut BTreeMap<u64, String>) {
    waiting.retain_mut(|(reply, body)| match reply.try_recv() {
        Ok(Ok(receipt)) => {
            acknowledged.extend(receipt.first.map(|sequence| (sequence, body.clone())));
            false
        }
        Err(oneshot::error::TryRecvError::Empty) => true,
        Ok(Err(_)) | Err(oneshot::error::TryRecvError::Closed) => false,
    });
}

fn run(fixture: &mut Fixture, step: &Step, number: usize, waiting: &mut Waiting) {
    match step {
        Step::Append { id, size, is_durable } => {
            // Records with an id are sent again, with the same body or with another one.
            let size = if id.is_some() { size - size % 100 } else { *size };
            let number = if id.is_some() { 0 } else { number };
            let body = format!("{{\"step\":{number},\"text\":\"{}\"}}", "x".repeat(size));
            let id = id.map(|id| id.to_string());
            let acknowledgement = if *is_durable { Acknowledgement::Durable } else { Acknowledgement::Written };
            let reply = fixture.submit(id.as_deref(), &body, acknowledgement);
            fixture.advance(Duration::ZERO);
            waiting.extend(is_durable.then_some((reply, body)));
        }
        Step::Advance(milliseconds) => fixture.advance(Duration::from_millis(*milliseconds)),
        Step::FailSyncs(count) => fixture.disk.state().failing_syncs = *count,
        Step::FailAppends(count) => fixture.disk.state().failing_appends = *count,
        Step::Kill | Step::LosePower { .. } => {
            if let Step::LosePower { kept_tail } = step {
                fixture.disk.lose_power(*kept_tail);
            }
            fixture.disk.state().failing_syncs = 0;
            fixture.disk.state().failing_appends = 0;
            fixture.restart();
        }
    }
}

proptest! {
    #[test]
    fn acknowledged_records_survive_failures_exactly_once(
        steps in prop::collection::vec(step(), 1..60),
        durability in prop::sample::select(vec![Durability::Interval, Durability::Record]),
    ) {
        let config = JournalConfig { durability, segment_bytes: 1000, ..JournalConfig::new(INTERVAL) };
        let mut fixture = Fixture::new(config);
        let (mut waiting, mut acknowledged) = (Waiting::new(), BTreeMap::new());
        for (number, step) in steps.iter().enumerate() {
            collect(&mut waiting, &mut acknowledged);
            run(&mut fixture, step, number, &mut waiting);
            collect(&mut waiting, &mut acknowledged);
        }
        run(&mut fixture, &Step::LosePower { kept_tail: 0 }, steps.len(), &mut waiting);
        let records = fixture.records();
        let sequences: Vec<_> = records.iter().map(|record| record.sequence).collect();
        prop_assert_eq!(&sequences, &(0..records.len() as u64).collect::<Vec<_>>(), "no gaps and no duplicates");
        prop_assert_eq!(fixture.writer.next_sequence(), records.len() as u64);
        for (sequence, body) in &acknowledged {
            let record = records.get(usize::try_from(*sequence).unwrap());
            prop_assert_eq!(record.map(|record| record.body.get()), Some(body.as_str()));
        }
        let mut ids: Vec<_> =
            records.iter().filter_map(|record| Some((record.id.as_deref()?, record.body.get()))).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), count, "records with equal ids and bodies");
    }
}
