//! The metrics of an elector, under the names of client-go.

use crate::metrics::{Counter, Gauge, Metric, Metrics};

const MASTER_STATUS: Metric =
    Metric { name: "leader_election_master_status", help: "Whether this process is the leader: 1, or 0." };
const SLOW_PATHS: Metric = Metric {
    name: "leader_election_slowpath_total",
    help: "Renewals that had to read the lease first, because an update without reading failed.",
};

/// The metrics of one elector. The name of the lease is the only label, as in client-go.
pub(super) struct ElectionMetrics {
    master_status: Gauge,
    slow_path: Counter,
    /// The slow paths that are counted.
    slow_paths: u64,
}

impl ElectionMetrics {
    pub(super) fn new(metrics: &Metrics, lease_name: &str) -> Self {
        let labels = [("name", lease_name)];
        let master_status = metrics.gauge(MASTER_STATUS, &labels);
        master_status.set(0.0);
        ElectionMetrics { master_status, slow_path: metrics.counter(SLOW_PATHS, &labels), slow_paths: 0 }
    }

    /// Sets the status to that of a leader until the guard is dropped.
    pub(super) fn lead(&self) -> MasterGuard {
        self.master_status.set(1.0);
        MasterGuard(self.master_status.clone())
    }

    /// Counts the slow paths up to this total.
    pub(super) fn set_slow_paths(&mut self, total: u64) {
        self.slow_path.inc_by(total.saturating_sub(self.slow_paths));
        self.slow_paths = total;
    }
}

/// Resets the status when the leader's work ended, or the elector is dropped.
pub(super) struct MasterGuard(Gauge);

impl Drop for MasterGuard {
    fn drop(&mut self) {
        self.0.set(0.0);
    }
}
