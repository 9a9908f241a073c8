//! The errors of a journal.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::config::ConfigError;
use crate::segment::Series;

/// A journal that cannot be opened, or ended unexpectedly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The options are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Another process has the lock of the series.
    #[error("another process writes this log: it has locked `{}`; use another directory or replica", .0.display())]
    Locked(PathBuf),
    /// The directory cannot be written.
    #[error(
        "cannot write to the directory `{}`: {source}; mount a volume that the user of the agent can write",
        .path.display()
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A segment cannot be used.
    #[error("cannot recover the segment `{}`: {source}", .path.display())]
    Recover {
        /// The segment.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The sequence number after a segment is too large.
    #[error(
        "the sequence numbers end with the segment `{}`; move it to another directory if another process created it",
        .path.display()
    )]
    Sequence {
        /// The segment.
        path: PathBuf,
    },
    /// The thread of the journal cannot be started.
    #[error("cannot start the thread of the journal: {0}")]
    Thread(io::Error),
    /// The thread of the journal panicked.
    #[error("the thread of the journal panicked")]
    Panicked,
    /// Some records were not durable when the journal stopped.
    #[error("the journal stopped, but {records} records are not durable: {reason}")]
    NotDurable {
        /// The number of records.
        records: usize,
        /// The error of the operating system.
        reason: String,
    },
}

impl JournalError {
    pub(super) fn lock(series: &Series, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::WouldBlock => JournalError::Locked(series.lock_path()),
            _ => JournalError::directory(series.directory(), source),
        }
    }

    pub(super) fn directory(path: &Path, source: io::Error) -> Self {
        JournalError::Directory { path: path.to_owned(), source }
    }

    pub(super) fn recover(path: &Path, source: io::Error) -> Self {
        JournalError::Recover { path: path.to_owned(), source }
    }
}

/// Records that are not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Too many records wait for their fsync.
    #[error("too many records are not durable yet; retry later")]
    Full,
    /// The journal is stopped.
    #[error("the journal is stopped")]
    Stopped,
    /// A record cannot be written.
    #[error("cannot write the record: {0}")]
    Write(String),
    /// A record is written, but its fsync failed.
    #[error("the record is not durable: {0}")]
    NotDurable(String),
}
