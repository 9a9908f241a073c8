//! The status of an elector: the observed leader, and whether the elector is overdue.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};

use super::work::Fence;

/// The status of an elector, for observers and health checks. Clones share it.
///
/// Guarantees:
/// - an observer is notified of each change of the leader once;
/// - [`is_leader`](Self::is_leader) is `false` from the time at which the leader's work must have ended, even if the
///   process was paused;
/// - [`check`](Self::check) fails if the elector does not run although it should: it renewed no lease that it holds, or
///   made no attempt, past the lease duration.
#[derive(Clone, Debug)]
pub struct LeaderStatus(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    lease: String,
    leader: watch::Sender<Option<String>>,
    fence: Fence,
    due: Mutex<Option<Due>>,
}

/// When the elector must have made progress.
#[derive(Clone, Copy, Debug)]
struct Due {
    by: Instant,
    is_leader: bool,
}

/// An elector that is overdue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "leader election is overdue: lease `{lease}` {} for {overdue:?} past its lease duration",
    if *is_leader { "was not renewed" } else { "was not attempted" }
)]
pub struct LeaseOverdue {
    /// The namespace and the name of the Lease.
    pub lease: String,
    /// Whether this process was the leader.
    pub is_leader: bool,
    /// How long the elector is overdue.
    pub overdue: Duration,
}

impl LeaderStatus {
    pub(super) fn new(lease: String, fence: Fence) -> Self {
        LeaderStatus(Arc::new(Shared { lease, leader: watch::Sender::new(None), fence, due: Mutex::new(None) }))
    }

    /// Returns a channel with the identity of the last observed leader. `None` if no leader is known: before the first
    /// response, and after the lease was released.
    pub fn leader(&self) -> watch::Receiver<Option<String>> {
        self.0.leader.subscribe()
    }

    /// Returns whether this process is the leader and its work may run.
    pub fn is_leader(&self) -> bool {
        self.0.fence.is_open()
    }

    /// Returns an error if the elector has been overdue for longer than `tolerance`, for a health check. An elector
    /// that is not running is not overdue.
    ///
    /// # Errors
    /// Fails if the leader did not renew, or a candidate made no attempt, for the lease duration and the tolerance.
    pub fn check(&self, tolerance: Duration) -> Result<(), LeaseOverdue> {
        let Some(Due { by, is_leader }) = *self.0.due.lock() else { return Ok(()) };
        let overdue = Instant::now().saturating_duration_since(by);
        match overdue > tolerance {
            true => Err(LeaseOverdue { lease: self.0.lease.clone(), is_leader, overdue }),
            false => Ok(()),
        }
    }

    /// Returns the namespace and the name of the Lease.
    pub(super) fn lease(&self) -> &str {
        &self.0.lease
    }

    /// Reports the holder of the Lease. Observers are notified of a change.
    pub(super) fn set_leader(&self, holder: &str) {
        let leader = Some(holder).filter(|holder| !holder.is_empty());
        self.0.leader.send_if_modified(|current| {
            let is_changed = current.as_deref() != leader;
            if is_changed {
                *current = leader.map(str::to_owned);
            }
            is_changed
        });
    }

    /// Sets when the elector must have made progress.
    pub(super) fn set_due(&self, by: Instant, is_leader: bool) {
        *self.0.due.lock() = Some(Due { by, is_leader });
    }

    /// Returns a guard that marks the elector as not running when it is dropped.
    pub(super) fn running(&self) -> RunningGuard {
        RunningGuard(self.clone())
    }
}

/// Marks the elector as not running on drop.
pub(super) struct RunningGuard(LeaderStatus);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        *self.0.0.due.lock() = None;
        self.0.0.fence.close();
    }
}
