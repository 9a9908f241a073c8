//! A simulated replica: its clocks, its state machine, its caches and its reconciliations.

use std::time::Duration;

use fastrand::Rng;

use super::world::Event;
use crate::{
    leader_election::{LeaderElectionConfig, Time, simulation::Clocks},
    sharding::{
        leases::LeaseNames,
        shard::Field,
        slot::{SLOTS, Slot, SlotSet},
        state_machine::{Local, Policy, StateMachine},
        table::Fleet,
    },
};

/// A replica, and what its runner and its controller have.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) clocks: Clocks,
    /// `None` if the process does not run.
    pub(super) machine: Option<StateMachine>,
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
    /// The number of restarts: events of earlier lives are ignored.
    pub(super) life: u64,
    /// The number of steps: events of earlier steps, such as the timeout of a request that was answered, are ignored.
    pub(super) turn: u64,
    /// Whether the state machine waits, and has no request in flight.
    pub(super) is_waiting: bool,
    pub(super) is_paused: bool,
    pub(super) is_cut: bool,
    /// The events of a paused process.
    pub(super) backlog: Vec<Event>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Published {
    pub(super) active: SlotSet,
    pub(super) active_until: Time,
    pub(super) work_deadline: Time,
    pub(super) cached: SlotSet,
}

impl Replica {
    pub(super) fn new(clocks: Clocks) -> Self {
        Replica {
            clocks,
            machine: None,
            published: Published::default(),
            running: [None; SLOTS as usize],
            queued: SlotSet::EMPTY,
            versions: [0; SLOTS as usize],
            synced: SlotSet::EMPTY,
            lists: 0,
            losses: 0,
            life: 0,
            turn: 0,
            is_waiting: false,
            is_paused: false,
            is_cut: false,
            backlog: Vec::new(),
        }
    }

    /// Starts the process with a new identity.
    pub(super) fn start(&mut self, index: usize, random: &mut Rng) {
        let config = LeaderElectionConfig::new("web", format!("{index}-{}", self.life));
        let policy = Policy {
            lease: config.policy().unwrap(),
            names: LeaseNames::new("web"),
            labels: [].into(),
            fleet: Fleet::new(Field::Uid, ["web".to_owned()].into()),
        };
        self.machine = Some(StateMachine::new(policy, random.fork()));
    }

    /// Ends the process with its reconciliations.
    pub(super) fn end(&mut self) {
        *self = Replica { life: self.life + 1, is_cut: self.is_cut, ..Replica::new(self.clocks) };
    }

    pub(super) fn local(&self) -> Local {
        Local { synced: self.synced, active: self.published.active, running: self.running() }
    }

    /// Returns the slots whose key is being reconciled.
    pub(super) fn running(&self) -> SlotSet {
        Slot::all().filter(|slot| self.running[usize::from(slot.index())].is_some()).collect()
    }

    /// Returns whether keys can be processed.
    pub(super) fn is_valid(&self, now: Duration) -> bool {
        self.machine.is_some() && self.clocks.monotonic(now) < self.published.active_until
    }

    /// Returns whether reconciliations are polled.
    pub(super) fn is_open(&self, now: Duration) -> bool {
        self.machine.is_some() && self.clocks.monotonic(now) < self.published.work_deadline
    }

    /// Returns the slots whose key is being reconciled, or can be, also after a pause.
    pub(super) fn working(&self, now: Duration) -> SlotSet {
        let active = if self.is_valid(now) { self.published.active } else { SlotSet::EMPTY };
        let running = if self.is_open(now) { self.running() } else { SlotSet::EMPTY };
        active.union(running)
    }
}
