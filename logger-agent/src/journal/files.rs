//! The segment that records are appended to, and the closed ones.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::file_system::SegmentFile;

/// The segment that records are appended to.
#[derive(Debug)]
pub(super) struct Active {
    file: Box<dyn SegmentFile>,
    /// The sequence number in the name.
    pub(super) first: u64,
    /// The size.
    pub(super) bytes: u64,
    /// The size that survives a crash.
    pub(super) durable_bytes: u64,
    opened: Instant,
}

impl Active {
    /// Creates the state of an open file whose content is durable.
    pub(super) fn new(file: Box<dyn SegmentFile>, first: u64, bytes: u64, opened: Instant) -> Self {
        Active { file, first, bytes, durable_bytes: bytes, opened }
    }

    /// Appends a line with one call. A part of the line is removed again.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        let written = loop {
            match self.file.append(line.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let error = match written {
            Ok(count) if count == line.len() => {
                self.bytes += line.len() as u64;
                return Ok(());
            }
            // The system writes a part if there is no space for the complete line.
            Ok(_) => io::Error::from(io::ErrorKind::StorageFull),
            Err(error) => error,
        };
        // A torn line remains if this fails: another kind of error abandons the segment.
        self.file.truncate(self.bytes).map_err(io::Error::other)?;
        Err(error)
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.durable_bytes = self.bytes;
        Ok(())
    }

    /// Removes what is not durable, after a failure.
    pub(super) fn truncate_to_durable(&mut self) -> io::Result<()> {
        self.bytes = self.durable_bytes;
        self.file.truncate(self.durable_bytes)
    }

    /// Returns whether a line of this length belongs to the next segment.
    pub(super) fn is_full(&self, line: usize, max_bytes: u64) -> bool {
        self.bytes > 0 && self.bytes + line as u64 > max_bytes
    }

    /// Returns whether the segment is not empty and has this age.
    pub(super) fn is_old(&self, max_age: Duration, now: Instant) -> bool {
        self.bytes > 0 && now.saturating_duration_since(self.opened) >= max_age
    }

    /// Closes the segment.
    pub(super) fn close(self, now: Instant) -> Closed {
        Closed::new(self.first, self.bytes, Duration::ZERO, now)
    }
}

/// A closed segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    /// The sequence number in the name.
    pub(super) first: u64,
    /// The size.
    pub(super) bytes: u64,
    /// Why some of its records cannot be read, if this was found at the start.
    pub(super) corruption: Option<String>,
    /// The age at `since`. Later ages do not depend on the wall clock: a step does not remove segments.
    age: Duration,
    since: Instant,
}

impl Closed {
    /// Creates the state of an existing segment.
    pub(super) fn new(first: u64, bytes: u64, age: Duration, since: Instant) -> Self {
        Closed { first, bytes, corruption: None, age, since }
    }

    pub(super) fn age(&self, now: Instant) -> Duration {
        self.age.saturating_add(now.saturating_duration_since(self.since))
    }
}

/// Returns whether an error means that the file system, or the quota of the user, has no space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
