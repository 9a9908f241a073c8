//! A simulated replica: its state machine, its caches and its reconciliations.

use fastrand::Rng;

use crate::{
    leader_election::{LeaderElectionConfig, Time},
    sharding::{
        leases::LeaseNames,
        shard::Field,
        slot::{SLOTS, Slot, SlotSet},
        state_machine::{Local, Policy, StateMachine},
        table::Fleet,
    },
};

/// A replica that runs, and what its runner and its controller have.
pub(super) struct Replica {
    pub(super) machine: StateMachine,
    /// What the state machine returned last.
    pub(super) published: Published,
    /// The slots whose key is being reconciled, with the version that the reconciliation has read.
    pub(super) running: [Option<u64>; SLOTS as usize],
    /// The slots whose key is in the queue.
    pub(super) queued: SlotSet,
    /// The versions of the keys in the cache.
    pub(super) versions: [u64; SLOTS as usize],
    pub(super) synced: SlotSet,
    /// The number of lists of objects: events of earlier ones are ignored.
    pub(super) lists: u64,
    /// The lost Leases of its state machine.
    pub(super) losses: u64,
    /// Whether the state machine waits, and has no request in flight.
    pub(super) is_waiting: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published {
    pub(super) active: SlotSet,
    pub(super) active_until: Time,
    pub(super) work_deadline: Time,
    pub(super) cached: SlotSet,
}

impl Replica {
    pub(super) fn new(identity: String, random: Rng) -> Self {
        let policy = Policy {
            lease: LeaderElectionConfig::new("web", identity).policy().unwrap(),
            names: LeaseNames::new("web"),
            labels: [].into(),
            fleet: Fleet::new(Field::Uid, ["web".to_owned()].into()),
        };
        Replica {
            machine: StateMachine::new(policy, random),
            published: Published::default(),
            running: [None; SLOTS as usize],
            queued: SlotSet::EMPTY,
            versions: [0; SLOTS as usize],
            synced: SlotSet::EMPTY,
            lists: 0,
            losses: 0,
            is_waiting: false,
        }
    }

    pub(super) fn local(&self) -> Local {
        Local { synced: self.synced, active: self.published.active, running: self.running() }
    }

    /// Returns the slots whose key is being reconciled.
    pub(super) fn running(&self) -> SlotSet {
        Slot::all().filter(|slot| self.running[usize::from(slot.index())].is_some()).collect()
    }

    /// Updates the cache, and queues the key if the slot is active.
    pub(super) fn observe(&mut self, slot: Slot, version: u64) {
        let known = &mut self.versions[usize::from(slot.index())];
        if version > *known {
            *known = version;
            if self.published.active.contains(slot) {
                self.queued.insert(slot);
            }
        }
    }

    /// Returns whether keys can be processed at a time of its clock.
    pub(super) fn is_valid(&self, now: Time) -> bool {
        now < self.published.active_until
    }

    /// Returns whether reconciliations are polled.
    pub(super) fn is_open(&self, now: Time) -> bool {
        now < self.published.work_deadline
    }

    /// Returns the slots whose key is being reconciled, or can be, also after a pause.
    pub(super) fn working(&self, now: Time) -> SlotSet {
        let active = if self.is_valid(now) { self.published.active } else { SlotSet::EMPTY };
        let running = if self.is_open(now) { self.running() } else { SlotSet::EMPTY };
        active.union(running)
    }
}
