//! The simulated fleet: replicas, their Leases, and the changes of objects.

use std::{ops::Range, time::Duration};

use fastrand::Rng;

use super::{
    SETTLED,
    replica::{Published, Replica},
    server::Server,
};
use crate::{
    sharding::{
        slot::{SLOTS, Slot, SlotSet},
        state_machine::{Request, Response, Step},
    },
    simulation::{Event, Model, Options, SECOND, World},
};

/// The longest reconciliation.
const RECONCILIATION: Duration = Duration::from_secs(3);
/// How long a cache that is cut off waits before it retries.
const CACHE_RETRY: Duration = Duration::from_millis(500);

pub(super) struct Shards {
    /// The number of slots that became active.
    pub(super) moves: u64,
    /// The number of Leases that were lost.
    pub(super) losses: u64,
    server: Server,
    /// The version of the object of each slot, and the last reconciled one.
    versions: [u64; SLOTS as usize],
    reconciled: [u64; SLOTS as usize],
}

/// An event of a replica.
pub(super) enum ReplicaEvent {
    /// The objects of these slots are listed.
    Listed {
        list: u64,
        slots: SlotSet,
    },
    /// The watch delivers a change.
    Changed {
        slot: Slot,
        version: u64,
    },
    ReconciliationEnds {
        slot: Slot,
        version: u64,
    },
}

/// Creates a world of several replicas.
pub(super) fn world(seed: u64, options: Options) -> World<Shards> {
    let (versions, reconciled) = ([1; SLOTS as usize], [0; SLOTS as usize]);
    let shards = Shards { moves: 0, losses: 0, server: Server::default(), versions, reconciled };
    let mut world = World::new(seed, options, 2..6, shards);
    world.schedule(Duration::ZERO, Event::Change);
    world
}

impl World<Shards> {
    /// Processes events until these slots have an owner, up to a time. Returns whether they have.
    pub(super) fn run_until_owned(&mut self, slots: SlotSet, end: Duration) -> Result<bool, String> {
        self.run_while(end, |world| !slots.is_subset(world.owned()))?;
        Ok(slots.is_subset(self.owned()))
    }

    /// Returns the slots that a replica works on.
    pub(super) fn owned(&self) -> SlotSet {
        (0..self.processes.len()).fold(SlotSet::EMPTY, |all, replica| all.union(self.owned_by(replica)))
    }

    /// Returns the slots whose keys a replica processes.
    pub(super) fn owned_by(&self, index: usize) -> SlotSet {
        let process = &self.processes[index];
        let now = process.clocks.monotonic(self.now);
        let replica = process.state.as_ref().filter(|replica| replica.is_valid(now) && !process.is_paused);
        replica.map_or(SlotSet::EMPTY, |replica| replica.published.active)
    }

    /// Returns the slots with a change that was not reconciled.
    pub(super) fn missed(&self) -> SlotSet {
        let Shards { versions, reconciled, .. } = &self.model;
        Slot::all().filter(|slot| reconciled[position(*slot)] != versions[position(*slot)]).collect()
    }

    /// Lets a replica that waits for a time handle a change of its local state.
    fn wake(&mut self, index: usize) {
        if self.running(index).is_some_and(|(replica, _)| replica.is_waiting) {
            self.wake_at(index, Duration::ZERO);
        }
    }

    /// Publishes the slots of a state machine. Returns whether the active ones changed.
    fn publish(&mut self, index: usize) -> bool {
        let Some((replica, _)) = self.running(index) else { return false };
        let (old, machine) = (replica.published, &replica.machine);
        let published = Published {
            active: machine.active(),
            active_until: machine.active_until(),
            work_deadline: machine.work_deadline(),
            cached: machine.cached().unwrap_or_default(),
        };
        let losses = machine.losses() - replica.losses;
        replica.losses += losses;
        replica.published = published;
        let started = published.active.difference(old.active);
        replica.queued = replica.queued.intersection(published.active).union(started);
        let mut list = None;
        if published.cached != old.cached {
            replica.synced = replica.synced.intersection(published.cached);
            replica.lists += 1;
            list = Some(replica.lists);
        }
        self.model.losses += losses;
        self.model.moves += started.len() as u64;
        if let Some(list) = list {
            let delay = SECOND / 20 + self.up_to(SECOND * 9 / 10);
            self.schedule_event(delay, index, ReplicaEvent::Listed { list, slots: published.cached });
        }
        self.abort(index);
        self.reconcile(index);
        published.active != old.active
    }

    /// Ends reconciliations whose deadline has passed.
    fn abort(&mut self, index: usize) {
        if let Some((replica, now)) = self.running(index)
            && !replica.is_open(now)
        {
            replica.queued = replica.queued.union(replica.running().intersection(replica.published.active));
            replica.running = [None; SLOTS as usize];
        }
    }

    /// Starts the reconciliations of queued keys.
    fn reconcile(&mut self, index: usize) {
        let Some((replica, now)) = self.running(index) else { return };
        if !replica.is_valid(now) {
            return;
        }
        let ready = replica.queued.intersection(replica.published.active).difference(replica.running());
        replica.queued = replica.queued.difference(ready);
        for slot in ready.iter() {
            replica.running[position(slot)] = Some(replica.versions[position(slot)]);
        }
        let versions = replica.versions;
        for slot in ready.iter() {
            let duration = self.up_to(RECONCILIATION);
            let version = versions[position(slot)];
            self.schedule_event(duration, index, ReplicaEvent::ReconciliationEnds { slot, version });
        }
    }

    fn reconciliation_ended(&mut self, index: usize, slot: Slot, version: u64) {
        self.abort(index);
        let Some((replica, now)) = self.running(index) else { return };
        if replica.running[position(slot)] != Some(version) || !replica.is_open(now) {
            return;
        }
        replica.running[position(slot)] = None;
        let is_drained = !replica.published.active.contains(slot);
        let reconciled = &mut self.model.reconciled[position(slot)];
        *reconciled = version.max(*reconciled);
        self.reconcile(index);
        if is_drained {
            self.wake(index);
        }
    }

    fn listed(&mut self, index: usize, list: u64, slots: SlotSet) {
        let (is_cut, versions) = (self.processes[index].is_cut, self.model.versions);
        let Some((replica, _)) = self.running(index).filter(|(replica, _)| replica.lists == list) else { return };
        if is_cut {
            return self.schedule_event(CACHE_RETRY, index, ReplicaEvent::Listed { list, slots });
        }
        for slot in slots.iter() {
            replica.synced.insert(slot);
            replica.observe(slot, versions[position(slot)]);
        }
        self.reconcile(index);
        self.wake(index);
    }

    fn changed(&mut self, index: usize, slot: Slot, version: u64) {
        if self.processes[index].is_cut {
            return self.schedule_event(CACHE_RETRY, index, ReplicaEvent::Changed { slot, version });
        }
        // A list that is in progress contains the change.
        if let Some((replica, _)) = self.running(index).filter(|(replica, _)| replica.synced.contains(slot)) {
            replica.observe(slot, version);
            self.reconcile(index);
        }
    }
}

impl Model for Shards {
    type Process = Replica;
    type Request = Request;
    type Response = Response;
    type Event = ReplicaEvent;

    const FAILED: Response = Response::Failed;
    const CUTS: Range<u32> = 4..7;

    fn start(identity: String, random: Rng) -> Replica {
        Replica::new(identity, random)
    }

    /// Executes the next step of a replica, and publishes what follows from it.
    fn drive(world: &mut World<Self>, index: usize) {
        loop {
            let step = world.next_step(index, |replica, now, wall| {
                let step = replica.machine.next(now, wall, replica.local());
                replica.is_waiting = matches!(step, Step::Wait { .. });
                step
            });
            let Some(step) = step else { return };
            let is_changed = world.publish(index);
            match step {
                // Slots that are no longer active can be released at once.
                Step::Wait { .. } if is_changed => {}
                Step::Wait { until } => return world.wake_at(index, until),
                Step::Send { request, deadline } => return world.send(index, request, deadline),
                Step::Left(_) => return world.kill(index),
            }
        }
    }

    fn serve(&mut self, request: Request) -> Response {
        self.server.apply(request)
    }

    fn respond(world: &mut World<Self>, index: usize, response: Response) {
        if let Some((replica, now)) = world.running(index) {
            replica.machine.response(now, response);
        }
    }

    fn handle(world: &mut World<Self>, index: usize, event: ReplicaEvent) {
        match event {
            ReplicaEvent::Listed { list, slots } => world.listed(index, list, slots),
            ReplicaEvent::Changed { slot, version } => world.changed(index, slot, version),
            ReplicaEvent::ReconciliationEnds { slot, version } => world.reconciliation_ended(index, slot, version),
        }
    }

    /// Stops a replica: it releases its slots and its Lease when its reconciliations have ended.
    fn stop(world: &mut World<Self>, index: usize, _: Duration) {
        let is_paused = world.processes[index].is_paused;
        if let Some((replica, now)) = world.running(index).filter(|_| !is_paused) {
            replica.machine.end(now);
            world.wake(index);
        }
    }

    /// Changes a random object, and schedules the next change.
    fn change(world: &mut World<Self>) {
        let slot = Slot::all().nth(world.random.usize(..usize::from(SLOTS)));
        let Some(slot) = slot.filter(|_| world.now < world.options.faults_end + SETTLED) else { return };
        let version = world.model.versions[position(slot)] + 1;
        world.model.versions[position(slot)] = version;
        for index in 0..world.processes.len() {
            let delay = world.up_to(SECOND / 10);
            world.schedule_event(delay, index, ReplicaEvent::Changed { slot, version });
        }
        let next = world.up_to(SECOND / 4);
        world.schedule(next, Event::Change);
    }

    /// Checks that no two replicas work on a slot.
    fn check(world: &mut World<Self>) {
        let mut all = SlotSet::EMPTY;
        for process in &world.processes {
            let now = process.clocks.monotonic(world.now);
            let working = process.state.as_ref().map_or(SlotSet::EMPTY, |replica| replica.working(now));
            let shared = all.intersection(working);
            if !shared.is_empty() {
                world.violation = Some(format!("two replicas work on the slots {shared:?} at {:?}", world.now));
            }
            all = all.union(working);
        }
    }
}

fn position(slot: Slot) -> usize {
    usize::from(slot.index())
}
