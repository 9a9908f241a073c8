//! The metrics of a sharding.

use super::slot::SlotSet;
use crate::metrics::{self, Counter, Gauge, Metric, Metrics};

const SLOTS: Metric =
    Metric { name: "sharding_slots", help: "The number of slots whose keys this replica reconciles." };
const MEMBERS: Metric = Metric { name: "sharding_members", help: "The number of replicas that share the slots." };
const MOVES: Metric =
    Metric { name: "sharding_acquired_slots_total", help: "Total number of slots that this replica acquired." };
const LOSSES: Metric = Metric {
    name: "sharding_lost_leases_total",
    help: "How often another replica took over the Lease of this one, because it was not renewed in time.",
};

/// The metrics of one sharding. The name of the fleet is the only label.
pub(super) struct ShardingMetrics {
    slots: Gauge,
    members: Gauge,
    moves: Counter,
    losses: Counter,
    active: SlotSet,
    lost: u64,
}

impl ShardingMetrics {
    pub(super) fn new(metrics: &Metrics, name: &str) -> Self {
        let labels = [("name", name)];
        ShardingMetrics {
            slots: metrics.gauge(SLOTS, &labels),
            members: metrics.gauge(MEMBERS, &labels),
            moves: metrics.counter(MOVES, &labels),
            losses: metrics.counter(LOSSES, &labels),
            active: SlotSet::EMPTY,
            lost: 0,
        }
    }

    /// Sets the values: the slots, the number of members, and the total number of lost Leases.
    pub(super) fn set(&mut self, active: SlotSet, members: usize, lost: u64) {
        self.slots.set(metrics::count(active.len()));
        self.members.set(metrics::count(members));
        self.moves.inc_by(active.difference(self.active).len() as u64);
        self.losses.inc_by(lost.saturating_sub(self.lost));
        (self.active, self.lost) = (active, lost);
    }
}

/// Sets the number of slots to zero when the runner ends.
impl Drop for ShardingMetrics {
    fn drop(&mut self) {
        self.slots.set(0.0);
    }
}
