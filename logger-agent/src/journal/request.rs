//! Records to append, and their acknowledgement.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

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

/// The number of bytes that records can have until they are durable. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    available: Arc<Semaphore>,
    capacity: usize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        let capacity = bytes.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Budget { available: Arc::new(Semaphore::new(capacity)), capacity }
    }

    /// Reserves bytes. Records that exceed the budget reserve all of it.
    pub(super) fn reserve(&self, bytes: usize) -> Result<Reservation, AppendError> {
        let permit = self.take(bytes.clamp(1, self.capacity))?;
        Ok(Reservation { budget: self.clone(), permit })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, AppendError> {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        Arc::clone(&self.available).try_acquire_many_owned(permits).map_err(|_| AppendError::Full)
    }

    #[cfg(test)]
    pub(super) fn available(&self) -> usize {
        self.available.available_permits()
    }
}

/// Memory for records until they are durable.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    permit: OwnedSemaphorePermit,
}

impl Reservation {
    /// Reserves this number of bytes in total, at most those of the budget. What is reserved remains.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), AppendError> {
        self.grow(bytes.saturating_sub(self.permit.num_permits()))
    }

    /// Reserves further bytes, at most those of the budget.
    ///
    /// # Errors
    /// Fails with [`AppendError::Full`] if the budget is used by others.
    pub fn grow(&mut self, bytes: usize) -> Result<(), AppendError> {
        let bytes = bytes.min(self.budget.capacity - self.permit.num_permits());
        self.permit.merge(self.budget.take(bytes)?);
        Ok(())
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
