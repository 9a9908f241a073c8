//! The state of the segments of the process before: the torn tail, the next sequence number, the ids of records, and
//! corrupt segments.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;

use super::{
    config::JournalConfig,
    error::JournalError,
    files::{Active, Closed},
};
use crate::{
    deduplication::{Deduplicator, Key, Keys},
    file_system::{FileInfo, FileSystem},
    metrics::Metrics,
    record::MAX_SEQUENCE,
    segment::{self, Scan, Series},
};

/// The state at the start.
#[derive(Debug)]
pub(super) struct Recovered {
    pub(super) closed: VecDeque<Closed>,
    pub(super) active: Option<Active>,
    pub(super) next_sequence: u64,
    pub(super) last_time: Option<Timestamp>,
    pub(super) deduplicator: Deduplicator,
}

/// Reads the segments of a series.
#[derive(Debug)]
pub(super) struct Recovery<'a> {
    pub(super) files: &'a dyn FileSystem,
    pub(super) series: &'a Series,
    pub(super) config: &'a JournalConfig,
    pub(super) metrics: &'a Metrics,
    pub(super) keys: &'a Keys,
    pub(super) now: Instant,
}

/// The keys of the records with an id, in order.
type Ids = Vec<Key>;

/// Why some records of segments cannot be read, by the first sequence numbers of the segments.
type Corruption = BTreeMap<u64, String>;

/// The content of a segment.
#[derive(Debug, Default)]
struct Content {
    scan: Scan,
    ids: Ids,
    last: Option<(u64, Timestamp)>,
}

impl Content {
    /// Returns why some records cannot be read.
    fn corruption(&self) -> Option<String> {
        let (corrupt, lines) = (self.scan.corrupt_lines, self.scan.lines);
        (corrupt > 0).then(|| format!("{corrupt} of {lines} lines are not valid records"))
    }
}

impl Recovery<'_> {
    /// Recovers all segments. Only the last one is changed: its torn tail is truncated.
    pub(super) fn run(&self) -> Result<Recovered, JournalError> {
        let segments = self.segments().map_err(|source| JournalError::directory(self.series.directory(), source))?;
        let mut closed = self.closed(&segments);
        let mut recovered = Recovered {
            closed: VecDeque::new(),
            active: None,
            next_sequence: 0,
            last_time: None,
            deduplicator: Deduplicator::new(self.config.remembered_ids),
        };
        let (mut ids, mut corruption) = (Vec::new(), Corruption::new());
        if let Some((first, file)) = segments.last() {
            if let Some(content) = self.last_segment(*first, file, &mut recovered, &mut corruption)? {
                ids.push(content.ids);
            }
            if recovered.active.is_some() {
                closed.pop_back();
            }
        }
        self.read_ids(&segments, &mut ids, &mut corruption);
        for key in ids.iter().rev().flatten() {
            recovered.deduplicator.insert(*key);
        }
        for segment in &mut closed {
            segment.corruption = corruption.remove(&segment.first);
        }
        recovered.closed = closed;
        Ok(recovered)
    }

    /// Returns the segments with their first sequence numbers, in order.
    fn segments(&self) -> io::Result<Vec<(u64, FileInfo)>> {
        let files = self.files.list(self.series.directory())?;
        let mut segments: Vec<_> =
            files.into_iter().filter_map(|file| Some((self.series.parse(&file.name)?, file))).collect();
        segments.sort_by_key(|(first, _)| *first);
        Ok(segments)
    }

    /// Returns the segments with their ages. The age of a segment is the time between the changes of those after it,
    /// each at most the age of a segment: neither the clock at the start nor a single step of it makes all of them old.
    fn closed(&self, segments: &[(u64, FileInfo)]) -> VecDeque<Closed> {
        let (mut closed, mut age, mut later) = (VecDeque::new(), Duration::ZERO, None::<SystemTime>);
        for (first, file) in segments.iter().rev() {
            let gap = later.and_then(|later| later.duration_since(file.modified).ok()).unwrap_or_default();
            age = age.saturating_add(gap.min(self.config.segment_age));
            later = Some(file.modified);
            closed.push_front(Closed::new(*first, file.bytes, age, self.now));
        }
        closed
    }

    /// Truncates the torn tail of the last segment, and opens it if further records can be appended.
    fn last_segment(
        &self,
        first: u64,
        file: &FileInfo,
        recovered: &mut Recovered,
        corruption: &mut Corruption,
    ) -> Result<Option<Content>, JournalError> {
        let path = self.series.path(first);
        let content = match self.read(first, corruption) {
            Ok(content) => content,
            Err(error) => {
                tracing::error!(segment = %path.display(), %error, "the last segment cannot be read; it remains");
                // It has fewer records than bytes, so that no sequence number is used twice.
                recovered.next_sequence = self.next_sequence(first, file.bytes)?;
                return Ok(None);
            }
        };
        let scan = content.scan;
        // A corrupt line had a sequence number as well.
        let after_last = content.last.map_or(0, |(sequence, _)| sequence + 1);
        recovered.next_sequence = self.next_sequence(first, scan.lines.max(after_last.saturating_sub(first)))?;
        recovered.last_time = content.last.map(|(_, time)| time);
        let mut file = self.files.open(&path).map_err(|source| JournalError::recover(&path, source))?;
        if scan.torn_bytes() > 0 {
            let bytes = scan.torn_bytes();
            tracing::warn!(segment = %path.display(), bytes, "truncating the torn tail of the last segment");
            self.metrics.add_truncated_bytes(bytes);
            file.truncate(scan.complete_bytes).map_err(|source| JournalError::recover(&path, source))?;
        }
        // The records of the process before may not be durable.
        file.sync().map_err(|source| JournalError::recover(&path, source))?;
        let is_reusable = scan.corrupt_lines == 0 && scan.complete_bytes < self.config.segment_bytes;
        // An empty segment must be continued: a new one would have the same name.
        if is_reusable || scan.lines == 0 {
            recovered.active = Some(Active::new(file, first, scan.complete_bytes, self.now));
        }
        Ok(Some(content))
    }

    /// Returns the sequence number after this number of records of a segment.
    fn next_sequence(&self, first: u64, records: u64) -> Result<u64, JournalError> {
        let next = first.checked_add(records).filter(|next| *next <= MAX_SEQUENCE);
        next.ok_or_else(|| JournalError::Sequence { path: self.series.path(first) })
    }

    /// Adds the ids of earlier segments, latest first, until enough are known. A segment that cannot be read is
    /// skipped.
    fn read_ids(&self, segments: &[(u64, FileInfo)], ids: &mut Vec<Ids>, corruption: &mut Corruption) {
        let mut count = ids.iter().map(Vec::len).sum::<usize>();
        for (first, file) in segments.iter().rev().skip(1) {
            if count >= self.config.remembered_ids.get() {
                return;
            }
            match self.read(*first, corruption) {
                Ok(content) => {
                    count += content.ids.len();
                    ids.push(content.ids);
                }
                Err(error) => tracing::error!(segment = file.name, %error, "a segment cannot be read; it is skipped"),
            }
        }
    }

    /// Reads a segment, and adds it to the corrupt ones if some of its records cannot be read.
    fn read(&self, first: u64, corruption: &mut Corruption) -> io::Result<Content> {
        let content = self.scan(first);
        let found = match &content {
            Ok(content) => content.corruption(),
            Err(error) => Some(format!("it cannot be read: {error}")),
        };
        corruption.extend(found.map(|found| (first, found)));
        content
    }

    fn scan(&self, first: u64) -> io::Result<Content> {
        let path = self.series.path(first);
        let (mut content, mut first_error) = (Content::default(), None);
        content.scan = segment::scan(self.files.read(&path)?, |line, record| match record {
            Ok(record) => {
                content.last = Some((record.sequence, record.time));
                content.ids.extend(record.id.map(|id| self.keys.key(record.source, &id, record.body.get())));
            }
            Err(error) => {
                first_error.get_or_insert((line, error));
            }
        })?;
        let lines = content.scan.corrupt_lines;
        if let Some((line, error)) = first_error {
            let segment = path.display();
            tracing::error!(%segment, lines, line, %error, "lines are not valid records; they are skipped");
        }
        self.metrics.add_corrupt_lines(lines);
        Ok(content)
    }
}
