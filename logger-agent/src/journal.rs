//! The journal: one thread that writes records to segments, makes them durable, and removes old segments.
//!
//! | module | contents |
//! |---|---|
//! | `config`, `error` | options and errors |
//! | `status` | what other threads see of the journal |
//! | `request` | records to append, and their acknowledgement |
//! | `files`, `pending` | the open and the closed segments; the records that wait for their fsync |
//! | `recovery` | the state of existing segments |
//! | `writer` | appends, commits, rotation and retention |
//! | `thread` | the thread of the writer |
//! | `journals` | the journals of an agent |

mod config;
mod error;
mod files;
mod journals;
mod pending;
mod recovery;
mod request;
mod status;
mod thread;
mod writer;

use std::{
    sync::{
        Arc,
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    time::Instant,
};

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{file_system::FileSystem, metrics::Metrics, record::Draft, segment::Series};

pub use config::{ConfigError, Durability, JournalConfig, MAX_DURATION};
pub use error::{AppendError, JournalError};
pub use journals::{JournalThreads, Journals};
pub use request::{Acknowledgement, Receipt, Reservation};
pub use thread::JournalThread;

use request::{Budget, Command, Request};
use status::Status;
use writer::Writer;

/// The number of bytes of heartbeats that wait for their fsync.
const HEARTBEAT_BYTES: usize = 64 << 10;

/// Appends records to the segments of one series. Clones share the journal.
///
/// Guarantees:
/// - an acknowledged record is durable: its fdatasync has succeeded;
/// - records are in the order of their sequence numbers, which have no gaps, whatever the clock does;
/// - a corrupt record costs no other one, and its segment is reported until it is removed;
/// - a record is one line, which is appended with one call;
/// - a torn tail of the process before is truncated at the start, and nothing else is changed;
/// - after a failed fsync, the segment is closed at its last durable record, and the records that are not durable are
///   written to a new one. An fsync is never repeated on the same file: the kernel may have dropped the data;
/// - a full file system costs the oldest closed segment, not a new record. Without a closed segment the record is
///   rejected;
/// - at most the configured number of bytes waits for its fsync, and at most the configured number of requests waits to
///   be written. Further ones are rejected. Heartbeats have a dedicated number of bytes;
/// - records of one source with equal ids are written once, also after a restart, as far as the ids are remembered.
#[derive(Clone, Debug)]
pub struct Journal {
    sender: SyncSender<Command>,
    unacknowledged: Budget,
    heartbeats: Budget,
    status: Arc<Status>,
    stopped: CancellationToken,
}

impl Journal {
    /// Recovers the segments of a series and starts the thread that appends to them. This blocks the calling thread.
    ///
    /// # Errors
    /// Fails if the configuration is invalid, if another process writes the series, or if its directory or its last
    /// segment cannot be read or written.
    pub fn open(
        files: Arc<dyn FileSystem>,
        series: Series,
        config: JournalConfig,
        metrics: Arc<Metrics>,
    ) -> Result<(Journal, JournalThread), JournalError> {
        config.validate()?;
        let lock = files.lock(&series.lock_path()).map_err(|source| JournalError::lock(&series, source))?;
        let status = Arc::new(Status::default());
        let unacknowledged = Budget::new(config.max_unacknowledged_bytes);
        let (sender, receiver) = sync_channel(config.max_unacknowledged_requests.max(1));
        let writer = Writer::recover(files, series, config, metrics, Arc::clone(&status))?;
        let stopped = CancellationToken::new();
        let thread = JournalThread::spawn(writer, sender.clone(), receiver, lock, stopped.clone())?;
        let heartbeats = Budget::new(HEARTBEAT_BYTES);
        Ok((Journal { sender, unacknowledged, heartbeats, status, stopped }, thread))
    }

    /// Reserves memory for records of this size in bytes.
    ///
    /// # Errors
    /// Fails with [`AppendError::Full`] if too many bytes wait for their fsync.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, AppendError> {
        self.unacknowledged.reserve(bytes)
    }

    /// Reserves memory for a heartbeat of this size, which requests cannot use.
    ///
    /// # Errors
    /// Fails with [`AppendError::Full`] if too many heartbeats wait for their fsync.
    pub fn reserve_heartbeat(&self, bytes: usize) -> Result<Reservation, AppendError> {
        self.heartbeats.reserve(bytes)
    }

    /// Appends records and waits for their acknowledgement. The records are written although the caller stops waiting.
    ///
    /// # Errors
    /// Fails if the queue is full, if too many bytes wait for their fsync, if the journal is stopped, or if a record
    /// could not be written or made durable. Some of the records can be in the segments nevertheless. Records with ids
    /// can be appended again.
    pub async fn append(
        &self,
        drafts: Vec<Draft>,
        acknowledgement: Acknowledgement,
        mut reservation: Reservation,
    ) -> Result<Receipt, AppendError> {
        reservation.grow_to(drafts.iter().map(Draft::max_line).sum())?;
        let (reply, receipt) = oneshot::channel();
        let request = Request { drafts, acknowledgement, reply, reservation };
        match self.sender.try_send(Command::Append(request)) {
            Ok(()) => receipt.await.unwrap_or(Err(AppendError::Stopped)),
            Err(TrySendError::Full(_)) => Err(AppendError::Full),
            Err(TrySendError::Disconnected(_)) => Err(AppendError::Stopped),
        }
    }

    /// Returns the number of bytes that records can have until they are durable.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.unacknowledged.capacity()
    }

    /// Returns whether the thread runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.stopped.is_cancelled()
    }

    /// Waits until the thread has ended.
    pub async fn stopped(&self) {
        self.stopped.cancelled().await;
    }

    /// Returns whether records were appended, by this process or by one before.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.status.is_used()
    }

    /// Returns the time of the last successful fsync of this process.
    #[must_use]
    pub fn last_fsync(&self) -> Option<Instant> {
        self.status.last_fsync()
    }

    /// Returns why records cannot be made durable, if the last attempt failed.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.status.last_error()
    }

    /// Returns the name of the oldest segment with records that could not be read at the start, and the reason. A
    /// removed segment is not returned.
    #[must_use]
    pub fn corrupt_segment(&self) -> Option<String> {
        self.status.corrupt_segment()
    }

    /// Returns when the clock was last found to be set back, and the segment and the times of the records.
    #[must_use]
    pub fn clock_step(&self) -> Option<(Instant, String)> {
        self.status.clock_step()
    }
}

/// The times of an operation. The writer has no clock, so that tests can pass any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The monotonic clock, for intervals.
    pub(crate) instant: Instant,
    /// The wall clock, for the times of records.
    pub(crate) time: Timestamp,
}

impl Now {
    /// Returns the times of the system. The thread of the journal does not run on tokio.
    pub(crate) fn system() -> Self {
        Now { instant: Instant::now(), time: Timestamp::now() }
    }
}

#[cfg(test)]
mod simulated_disk;
#[cfg(test)]
mod tests;
