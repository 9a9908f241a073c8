//! The writer of a series: appends, commits, rotation and retention. It has no thread and no clock.

use std::{
    collections::VecDeque,
    io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    Now,
    config::JournalConfig,
    error::{AppendError, JournalError},
    files::{Active, Closed, is_full},
    pending::Pending,
    recovery::{Recovered, Recovery},
    request::{Acknowledgement, Receipt, Request},
    status::Status,
};
use crate::{
    deduplication::{Deduplicator, Keys, Known},
    file_system::{FileSystem, SegmentFile},
    metrics::{Dropped, Metrics, Removed},
    record::{self, Draft, MAX_SEQUENCE, Source},
    segment::{self, Series},
};

/// The maximum time between two checks of the ages of segments.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// The pause after records could not be made durable, unless the interval is shorter.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Owns the segments of a series.
#[derive(Debug)]
pub(super) struct Writer {
    files: Arc<dyn FileSystem>,
    series: Series,
    config: JournalConfig,
    metrics: Arc<Metrics>,
    status: Arc<Status>,
    keys: Keys,
    deduplicator: Deduplicator,
    closed: VecDeque<Closed>,
    /// Absent after a failure, and after a rotation until the next record.
    active: Option<Active>,
    pending: Pending,
    next_sequence: u64,
    last_time: Option<Timestamp>,
    /// The time at which the space of the file system was checked.
    space_checked: Instant,
    /// The segment without durable records that could not be removed.
    left_over: Option<u64>,
    /// The number and the size of segments in the metrics.
    reported: (i64, i64),
}

impl Writer {
    /// Recovers the segments of a series.
    pub(super) fn recover(
        files: Arc<dyn FileSystem>,
        series: Series,
        config: JournalConfig,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
    ) -> Result<Self, JournalError> {
        let now = Now::system().instant;
        let keys = Keys::default();
        let recovery =
            Recovery { files: &*files, series: &series, config: &config, metrics: &metrics, keys: &keys, now };
        let Recovered { closed, active, next_sequence, last_time, deduplicator } = recovery.run()?;
        let pending = Pending::default();
        let mut writer = Writer {
            files,
            series,
            config,
            metrics,
            status,
            keys,
            deduplicator,
            closed,
            active,
            pending,
            next_sequence,
            last_time,
            space_checked: now,
            left_over: None,
            reported: (0, 0),
        };
        tracing::info!(next_sequence, segments = writer.closed.len(), "recovered the log");
        if next_sequence > 0 {
            writer.status.set_used();
        }
        writer.report_corruption();
        writer.retain(now);
        Ok(writer)
    }

    /// Appends the records of a request. Its client is notified now, or when the records are durable.
    pub(super) fn append(&mut self, request: Request, now: Now) {
        let Request { drafts, acknowledgement, reply, reservation } = request;
        let (mut receipt, mut drafts) = (Receipt::default(), drafts.into_iter());
        // The memory of a draft is free when its line is written.
        while let Some(draft) = drafts.next() {
            match self.append_record(&draft, now) {
                Ok(Some(sequence)) => receipt.add(sequence),
                Ok(None) => receipt.duplicates += 1,
                Err(error) => {
                    self.metrics.add_dropped(Dropped::WriteFailed, drafts.len() + 1);
                    if !self.pending.is_empty() {
                        self.pending.hold(reservation);
                    }
                    let error = self.fail("cannot write a record", &error);
                    // The client may have stopped waiting.
                    let _ = reply.send(Err(AppendError::Write(error)));
                    return;
                }
            }
        }
        // All records are duplicates of durable ones, or the client does not wait until they are durable.
        if self.pending.is_empty() || acknowledgement == Acknowledgement::Written {
            let _ = reply.send(Ok(receipt));
        } else {
            self.pending.wait(reply, receipt, now.instant);
        }
        if !self.pending.is_empty() {
            self.pending.hold(reservation);
        }
    }

    /// Appends a record and returns its sequence number; `None` for a duplicate.
    fn append_record(&mut self, draft: &Draft, now: Now) -> io::Result<Option<u64>> {
        let key = draft.id().map(|id| self.keys.key(draft.source(), id, draft.body()));
        match key.map(|key| self.deduplicator.find(key)) {
            Some(Known::Duplicate) => {
                self.metrics.add_duplicate();
                return Ok(None);
            }
            Some(Known::ReusedId) => self.metrics.add_reused_id(),
            None if draft.source() == Source::Audit => self.metrics.add_event_without_id(),
            Some(Known::New) | None => {}
        }
        self.status.set_used();
        let sequence = self.next_sequence;
        if sequence > MAX_SEQUENCE {
            return Err(io::Error::other("no sequence number is left"));
        }
        let line = record::encode(sequence, now.time, draft);
        self.rotate_before(line.len(), now.instant);
        self.write(&line, now.instant)?;
        self.check_clock(now);
        self.next_sequence = sequence + 1;
        self.metrics.add_record(draft.source(), line.len());
        if let Some(key) = key {
            self.deduplicator.insert(key);
        }
        self.pending.push(sequence, line, now.instant);
        Ok(Some(sequence))
    }

    /// Reports a clock that was set back. The sequence numbers order the records in any case.
    fn check_clock(&mut self, now: Now) {
        let time = now.time;
        let Some(last) = self.last_time.replace(time).filter(|last| *last > time) else { return };
        // The segment of the record at `time`.
        let segment = self.active.as_ref().map(|active| self.series.relative_path(active.first)).unwrap_or_default();
        tracing::warn!(segment, %last, %time, "the clock was set back; sequence numbers order the records");
        self.metrics.add_clock_step();
        self.status.add_clock_step(now.instant, format!("{segment}: from {last} to {time}"));
    }

    /// Writes a line to the active segment. A full file system costs the oldest closed segment, another error the
    /// active one.
    fn write(&mut self, line: &str, now: Instant) -> io::Result<()> {
        let mut can_replace = true;
        loop {
            let error = match self.try_write(line, now) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if is_full(&error) {
                if !self.remove_oldest(Removed::NoSpace) {
                    return Err(error);
                }
                continue;
            }
            // The segment may end with a torn line.
            self.abandon(now);
            if !std::mem::take(&mut can_replace) {
                return Err(error);
            }
            tracing::warn!(%error, "a record cannot be written; trying a new segment");
        }
    }

    fn try_write(&mut self, line: &str, now: Instant) -> io::Result<()> {
        let mut active = self.take_active(now)?;
        let result = active.append(line);
        self.active = Some(active);
        result
    }

    /// Takes the active segment out of the writer, or creates one.
    fn take_active(&mut self, now: Instant) -> io::Result<Active> {
        match self.active.take() {
            Some(active) => Ok(active),
            None => self.create(now),
        }
    }

    /// Creates a segment with all records that are not durable.
    fn create(&mut self, now: Instant) -> io::Result<Active> {
        let first = self.pending.first_sequence().unwrap_or(self.next_sequence);
        let path = self.series.path(first);
        let mut file = match self.files.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.reopen(first, &path)?,
            result => result?,
        };
        let initialized = self.initialize(&mut *file);
        let mut active = Active::new(file, first, 0, now);
        let filled = initialized.and_then(|()| self.pending.lines().iter().try_for_each(|line| active.append(line)));
        if let Err(error) = filled {
            drop(active);
            self.remove(first);
            return Err(error);
        }
        tracing::debug!(segment = %path.display(), "created a segment");
        Ok(active)
    }

    /// Opens an existing file, whose content is replaced: what an earlier failure left, or a file without a record.
    fn reopen(&self, first: u64, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        if self.left_over != Some(first) && segment::scan(self.files.read(path)?, |_, _| {})?.lines > 0 {
            let text = format!("the segment `{}` of the next record exists and has records", path.display());
            return Err(io::Error::other(text));
        }
        self.files.open(path)
    }

    /// Makes an empty file durable in its directory.
    fn initialize(&self, file: &mut dyn SegmentFile) -> io::Result<()> {
        file.truncate(0)?;
        file.sync()?;
        self.files.sync_directory(self.series.directory())
    }

    /// Makes all records durable. After a failure, a new segment is tried once.
    pub(super) fn commit(&mut self, now: Instant) {
        if self.pending.is_empty() {
            return;
        }
        let result = self.sync(now).or_else(|error| {
            tracing::warn!(%error, "the fsync of a segment failed; its records are written to a new one");
            if is_full(&error) {
                self.remove_oldest(Removed::NoSpace);
            }
            self.abandon(now);
            self.sync(now)
        });
        match result {
            Ok(()) => self.pending.acknowledge(),
            Err(error) => {
                self.abandon(now);
                let error = AppendError::NotDurable(self.fail("records are not durable", &error));
                self.pending.fail(&error, now + RETRY_PAUSE.min(self.config.interval));
            }
        }
        self.report_size();
    }

    fn sync(&mut self, now: Instant) -> io::Result<()> {
        let mut active = loop {
            match self.take_active(now) {
                Err(error) if is_full(&error) && self.remove_oldest(Removed::NoSpace) => {}
                result => break result?,
            }
        };
        let started = Instant::now();
        let result = active.sync();
        self.metrics.add_fsync(started.elapsed(), result.is_ok());
        self.active = Some(active);
        if result.is_ok() {
            self.status.succeed(now + started.elapsed());
        }
        result
    }

    /// Closes the active segment at its last durable record, after a failure. The pending records remain in memory.
    fn abandon(&mut self, now: Instant) {
        let Some(mut active) = self.active.take() else { return };
        if let Err(error) = active.truncate_to_durable() {
            let segment = self.series.path(active.first);
            tracing::warn!(segment = %segment.display(), %error, "records that are written again cannot be removed");
        }
        match active.bytes {
            0 => self.remove(active.first),
            _ => self.closed.push_back(active.close(now)),
        }
    }

    /// Makes records durable that are due, closes an old segment, and removes segments.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.due().is_some_and(|due| due <= now) {
            self.commit(now);
        }
        if self.active.as_ref().is_some_and(|active| active.is_old(self.config.segment_age, now)) {
            self.rotate(now);
        }
        if now.saturating_duration_since(self.space_checked) >= MAX_IDLE {
            self.leave_space(now);
        }
        self.retain(now);
    }

    /// Returns when [`tick`](Self::tick) is to be called at the latest.
    pub(super) fn deadline(&self, now: Instant) -> Instant {
        self.due().map_or(now + MAX_IDLE, |due| due.min(now + MAX_IDLE))
    }

    fn due(&self) -> Option<Instant> {
        self.pending.due(self.config.commit_interval(), self.config.delay())
    }

    /// Makes all records durable and ends.
    pub(super) fn close(mut self, now: Instant) -> Result<(), JournalError> {
        self.commit(now);
        match self.pending.lines().len() {
            0 => Ok(()),
            records => {
                let reason = self.status.last_error().unwrap_or_default();
                Err(JournalError::NotDurable { records, reason })
            }
        }
    }

    /// Closes the active segment if it has no room for a line.
    fn rotate_before(&mut self, line: usize, now: Instant) {
        if self.active.as_ref().is_some_and(|active| active.is_full(line, self.config.segment_bytes)) {
            self.rotate(now);
            self.retain(now);
        }
    }

    /// Makes the records of the active segment durable and closes it. The next record creates a segment.
    fn rotate(&mut self, now: Instant) {
        self.commit(now);
        if self.pending.is_empty()
            && let Some(active) = self.active.take()
        {
            self.closed.push_back(active.close(now));
            self.leave_space(now);
        }
    }

    /// Removes the oldest closed segments until space remains for other files.
    fn leave_space(&mut self, now: Instant) {
        self.space_checked = now;
        while self.config.leaves_space && !self.closed.is_empty() {
            let space = match self.files.space(self.series.directory()) {
                Ok(Some(space)) => space,
                Ok(None) => return,
                Err(error) => return tracing::warn!(%error, "the space of the file system is unknown"),
            };
            let minimum = (space.total / 8).min(self.config.segment_bytes.saturating_mul(4));
            if space.available >= minimum || !self.remove_oldest(Removed::NoSpace) {
                return;
            }
        }
    }

    /// Removes the oldest closed segments that are too old, or too large together with all others.
    fn retain(&mut self, now: Instant) {
        while let Some(oldest) = self.closed.front() {
            let reason = match self.bytes() > self.config.retention_bytes {
                true => Removed::Bytes,
                false if oldest.age(now) > self.config.retention_age => Removed::Age,
                false => break,
            };
            if !self.remove_oldest(reason) {
                break;
            }
        }
        self.report_size();
    }

    /// Removes the oldest closed segment, and returns whether there was one.
    fn remove_oldest(&mut self, reason: Removed) -> bool {
        let Some(oldest) = self.closed.pop_front() else { return false };
        let segment = self.series.path(oldest.first);
        match self.files.remove(&segment) {
            Ok(()) if reason == Removed::NoSpace => {
                tracing::warn!(segment = %segment.display(), "the file system has no space; removed the oldest segment");
            }
            Ok(()) => tracing::info!(segment = %segment.display(), reason = reason.name(), "removed a segment"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::error!(segment = %segment.display(), %error, "a segment cannot be removed");
                self.closed.push_front(oldest);
                return false;
            }
        }
        self.metrics.add_removed(reason);
        if oldest.corruption.is_some() {
            self.report_corruption();
        }
        true
    }

    /// Reports the oldest corrupt segment, for health checks.
    fn report_corruption(&self) {
        let mut corrupt = self.closed.iter().filter_map(|closed| Some((closed.first, closed.corruption.as_ref()?)));
        let description = corrupt.next().map(|(first, reason)| {
            let (segment, others) = (self.series.relative_path(first), corrupt.count());
            let others = if others > 0 { format!("; other corrupt segments: {others}") } else { String::new() };
            format!("{segment}: {reason}{others}")
        });
        self.status.set_corrupt_segment(description);
    }

    /// Removes a segment without durable records.
    fn remove(&mut self, first: u64) {
        let segment = self.series.path(first);
        if let Err(error) = self.files.remove(&segment) {
            self.left_over = Some(first);
            tracing::warn!(segment = %segment.display(), %error, "an empty segment cannot be removed");
        }
    }

    fn bytes(&self) -> u64 {
        let active = self.active.as_ref().map_or(0, |active| active.bytes);
        self.closed.iter().map(|closed| closed.bytes).sum::<u64>() + active
    }

    fn report_size(&mut self) {
        let count = i64::try_from(self.closed.len() + usize::from(self.active.is_some())).unwrap_or(i64::MAX);
        let bytes = i64::try_from(self.bytes()).unwrap_or(i64::MAX);
        let (old_count, old_bytes) = std::mem::replace(&mut self.reported, (count, bytes));
        self.metrics.add_segments(count - old_count, bytes - old_bytes);
    }

    /// Logs an error, stores it for health checks, and returns its text.
    fn fail(&self, what: &str, error: &io::Error) -> String {
        tracing::error!(%error, what, "the log cannot be written");
        self.status.fail(error.to_string());
        error.to_string()
    }
}

#[cfg(test)]
impl Writer {
    pub(super) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    pub(super) fn status(&self) -> &Status {
        &self.status
    }
}
