//! Records to append, and their acknowledgement.

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::error::AppendError;
use crate::record::Draft;

/// What the client of a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// The records are durable.
    Durable,
    /// The records are written, but can be lost until the next fsync. They are not acknowledged.
    Written,
}

/// The result of appended records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The number of records that were written.
    pub records: u64,
    /// The number of records that had been written before.
    pub duplicates: u64,
    /// The sequence number of the first written record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The sequence number of the last written record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
}

impl Receipt {
    pub(super) fn add(&mut self, sequence: u64) {
        self.records += 1;
        self.first.get_or_insert(sequence);
        self.last = Some(sequence);
    }
}

/// Memory for records until they are durable.
#[derive(Debug)]
pub struct Reservation {
    permit: OwnedSemaphorePermit,
}

impl Reservation {
    pub(super) fn new(permit: OwnedSemaphorePermit) -> Self {
        Reservation { permit }
    }

    /// Adds another reservation of the same journal.
    pub(super) fn merge(&mut self, other: Reservation) {
        self.permit.merge(other.permit);
    }
}

pub(super) type Reply = oneshot::Sender<Result<Receipt, AppendError>>;

/// Records to append.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) drafts: Vec<Draft>,
    pub(super) acknowledgement: Acknowledgement,
    pub(super) reply: Reply,
    pub(super) reservation: Reservation,
}

/// What the thread receives.
#[derive(Debug)]
pub(super) enum Command {
    Append(Request),
    /// Makes all records durable and ends.
    Stop,
}
