//! The records that wait for their fsync, and the clients that wait for them.

use std::time::{Duration, Instant};

use super::{
    error::AppendError,
    request::{Receipt, Reply, Reservation},
};

/// The size of pending records from which they are made durable before the interval ends.
const MAX_BYTES: usize = 1 << 20;

/// Records that are written but not durable. Their lines are in memory until then: after a failed fsync they are
/// written again.
#[derive(Debug, Default)]
pub(super) struct Pending {
    lines: Vec<String>,
    bytes: usize,
    /// The sequence number of the first line.
    first_sequence: u64,
    /// The time of the first line.
    since: Option<Instant>,
    /// The time at which the first client began to wait.
    waiting_since: Option<Instant>,
    waiting: Vec<(Reply, Receipt)>,
    reservations: Vec<Reservation>,
    /// The end of the pause after a failure.
    not_before: Option<Instant>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns the sequence number of the first record, if there is one.
    pub(super) fn first_sequence(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.first_sequence)
    }

    /// Adds a written line.
    pub(super) fn push(&mut self, sequence: u64, line: String, now: Instant) {
        if self.is_empty() {
            (self.first_sequence, self.since) = (sequence, Some(now));
        }
        self.bytes += line.len();
        self.lines.push(line);
    }

    /// Adds a client that waits until all lines are durable.
    pub(super) fn wait(&mut self, reply: Reply, receipt: Receipt, now: Instant) {
        self.waiting_since.get_or_insert(now);
        self.waiting.push((reply, receipt));
    }

    /// Holds a reservation until all lines are durable.
    pub(super) fn hold(&mut self, reservation: Reservation) {
        self.reservations.push(reservation);
    }

    /// Returns when the lines are to be made durable, if there are any.
    pub(super) fn due(&self, interval: Duration, delay: Duration) -> Option<Instant> {
        let since = self.since.filter(|_| !self.is_empty())?;
        let is_large = self.bytes >= MAX_BYTES;
        let by_interval = if is_large { since } else { since + interval };
        let due = self.waiting_since.map_or(by_interval, |since| by_interval.min(since + delay));
        Some(self.not_before.map_or(due, |pause| due.max(pause)))
    }

    /// Acknowledges all records.
    pub(super) fn acknowledge(&mut self) {
        // The memory is free before clients continue.
        let Pending { waiting, .. } = std::mem::take(self);
        for (reply, receipt) in waiting {
            // The client may have stopped waiting.
            let _ = reply.send(Ok(receipt));
        }
    }

    /// Notifies the waiting clients of a failure. The lines remain pending, and are not retried before a pause.
    pub(super) fn fail(&mut self, error: &AppendError, not_before: Instant) {
        self.waiting_since = None;
        self.not_before = Some(not_before);
        for (reply, _) in self.waiting.drain(..) {
            let _ = reply.send(Err(error.clone()));
        }
    }
}
