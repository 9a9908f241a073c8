//! The simulated world: real time, events, replicas, the API server and the changes of objects.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;

use super::{
    SECOND, SETTLED,
    replica::{Published, Replica},
    server::Server,
};
use crate::{
    leader_election::simulation::{Clocks, Conditions},
    sharding::{
        slot::{SLOTS, Slot, SlotSet},
        state_machine::{Request, Response, Step},
    },
};

/// The longest reconciliation.
const RECONCILIATION: Duration = Duration::from_secs(3);
/// How long a cache that is cut off waits before it retries.
const CACHE_RETRY: Duration = Duration::from_millis(500);

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// The largest difference of a clock's rate from real time.
    pub(super) drift: f64,
    /// Until when faults occur.
    pub(super) faults_end: Duration,
    /// Whether replicas that ended are started again.
    pub(super) restarts: bool,
}

/// An event, and the life and the step of the replica to which it belongs.
#[derive(Debug)]
pub(super) enum Event {
    Start {
        replica: usize,
    },
    /// A request arrives at the API server, even if its replica no longer exists.
    Arrive {
        replica: usize,
        life: u64,
        turn: u64,
        request: Request,
    },
    /// An object changes.
    Change,
    Fault {
        replica: usize,
    },
    Resume {
        replica: usize,
        life: u64,
    },
    Reconnect {
        replica: usize,
    },
    Local {
        replica: usize,
        life: u64,
        event: LocalEvent,
    },
}

/// An event of a process, which is handled when the process runs.
#[derive(Debug)]
pub(super) enum LocalEvent {
    Wake {
        turn: u64,
    },
    /// A response arrives, or the request timed out.
    Reply {
        turn: u64,
        response: Response,
    },
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

#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Duration,
    pub(super) random: Rng,
    /// The number of slots that became active.
    pub(super) moves: u64,
    /// The number of Leases that were lost.
    pub(super) losses: u64,
    options: Options,
    server: Server,
    events: BTreeMap<(Duration, u64), Event>,
    scheduled: u64,
    replicas: Vec<Replica>,
    /// The version of the object of each slot, and the last reconciled one.
    versions: [u64; SLOTS as usize],
    reconciled: [u64; SLOTS as usize],
    violation: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        let mut random = Rng::with_seed(seed);
        let count = random.usize(2..=5);
        let replicas = (0..count).map(|_| Replica::new(Clocks::new(options.drift, &mut random))).collect();
        let mut world = World {
            now: Duration::ZERO,
            random,
            moves: 0,
            losses: 0,
            options,
            server: Server::default(),
            events: BTreeMap::new(),
            scheduled: 0,
            replicas,
            versions: [1; SLOTS as usize],
            reconciled: [0; SLOTS as usize],
            violation: None,
        };
        world.schedule(Duration::ZERO, Event::Change);
        for replica in 0..count {
            let start = world.up_to(3 * SECOND);
            world.schedule(start, Event::Start { replica });
            let fault = world.up_to(30 * SECOND);
            world.schedule(fault, Event::Fault { replica });
        }
        world
    }

    pub(super) fn replicas(&self) -> usize {
        self.replicas.len()
    }

    /// Processes all events up to a time. Returns the first slot that two replicas work on.
    pub(super) fn run_until(&mut self, end: Duration) -> Result<(), String> {
        while self.step(end)? {}
        self.now = end;
        Ok(())
    }

    /// Processes events until these slots have an owner, up to a time. Returns whether they have.
    pub(super) fn run_until_owned(&mut self, slots: SlotSet, end: Duration) -> Result<bool, String> {
        while !slots.is_subset(self.owned()) && self.step(end)? {}
        Ok(slots.is_subset(self.owned()))
    }

    /// Returns the slots that a replica works on.
    pub(super) fn owned(&self) -> SlotSet {
        (0..self.replicas.len()).fold(SlotSet::EMPTY, |all, replica| all.union(self.owned_by(replica)))
    }

    /// Returns the slots whose keys a replica processes.
    pub(super) fn owned_by(&self, replica: usize) -> SlotSet {
        let replica = &self.replicas[replica];
        let is_working = replica.is_valid(self.now) && !replica.is_paused;
        if is_working { replica.published.active } else { SlotSet::EMPTY }
    }

    /// Returns the slots with a change that was not reconciled.
    pub(super) fn missed(&self) -> SlotSet {
        Slot::all().filter(|slot| self.reconciled[position(*slot)] != self.versions[position(*slot)]).collect()
    }

    /// Ends a process without notice.
    pub(super) fn kill(&mut self, replica: usize) {
        self.replicas[replica].end();
        if self.options.restarts {
            let delay = SECOND + self.up_to(2 * SECOND);
            self.schedule(delay, Event::Start { replica });
        }
    }

    /// Stops a process: it releases its slots and its Lease when its reconciliations have ended.
    pub(super) fn stop(&mut self, index: usize) {
        let now = self.now;
        let replica = &mut self.replicas[index];
        let now = replica.clocks.monotonic(now);
        if let Some(machine) = replica.machine.as_mut().filter(|_| !replica.is_paused) {
            machine.end(now);
            self.wake(index);
        }
    }

    /// Processes the next event. Returns `false` if there is none before the end.
    fn step(&mut self, end: Duration) -> Result<bool, String> {
        let Some(next) = self.events.first_entry().filter(|next| next.key().0 <= end) else { return Ok(false) };
        self.now = next.key().0;
        let event = next.remove();
        self.handle(event);
        self.check();
        self.violation.take().map_or(Ok(true), Err)
    }

    /// Checks that no two replicas work on a slot.
    fn check(&mut self) {
        let mut all = SlotSet::EMPTY;
        for replica in &self.replicas {
            let working = replica.working(self.now);
            let shared = all.intersection(working);
            if !shared.is_empty() {
                self.violation = Some(format!("two replicas work on the slots {shared:?} at {:?}", self.now));
            }
            all = all.union(working);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start { replica } => self.start(replica),
            Event::Arrive { replica, life, turn, request } => self.arrive(replica, life, turn, request),
            Event::Change => self.change(),
            Event::Fault { replica } => self.fault(replica),
            Event::Resume { replica, life } if self.replicas[replica].life == life => self.resume(replica),
            Event::Resume { .. } => {}
            Event::Reconnect { replica } => self.replicas[replica].is_cut = false,
            Event::Local { replica, life, event } => {
                let state = &mut self.replicas[replica];
                match state.life == life && state.machine.is_some() {
                    true if state.is_paused => state.backlog.push(Event::Local { replica, life, event }),
                    true => self.handle_local(replica, event),
                    false => {}
                }
            }
        }
    }

    /// Handles an event of a process that runs.
    fn handle_local(&mut self, index: usize, event: LocalEvent) {
        match event {
            LocalEvent::Wake { turn } if self.replicas[index].turn == turn => self.drive(index),
            LocalEvent::Reply { turn, response } if self.replicas[index].turn == turn => {
                let now = self.now;
                let replica = &mut self.replicas[index];
                let now = replica.clocks.monotonic(now);
                if let Some(machine) = &mut replica.machine {
                    machine.response(now, response);
                }
                self.drive(index);
            }
            LocalEvent::Wake { .. } | LocalEvent::Reply { .. } => {}
            LocalEvent::Listed { list, slots } => self.listed(index, list, slots),
            LocalEvent::Changed { slot, version } => self.changed(index, slot, version),
            LocalEvent::ReconciliationEnds { slot, version } => self.reconciliation_ended(index, slot, version),
        }
    }

    fn start(&mut self, index: usize) {
        let replica = &mut self.replicas[index];
        if replica.machine.is_none() {
            replica.start(index, &mut self.random);
            self.drive(index);
        }
    }

    /// Lets a replica that waits for a time handle a change of its local state.
    fn wake(&mut self, index: usize) {
        let Replica { turn, life, is_waiting, .. } = self.replicas[index];
        if !is_waiting {
            return;
        }
        self.schedule(Duration::ZERO, Event::Local { replica: index, life, event: LocalEvent::Wake { turn } });
    }

    /// Executes the next step of a replica, and publishes what follows from it.
    fn drive(&mut self, index: usize) {
        loop {
            let now = self.now;
            let replica = &mut self.replicas[index];
            let (monotonic, wall, local) = (replica.clocks.monotonic(now), replica.clocks.wall(now), replica.local());
            let Some(machine) = &mut replica.machine else { return };
            let step = machine.next(monotonic, wall, local);
            replica.turn += 1;
            replica.is_waiting = matches!(step, Step::Wait { .. });
            let is_changed = self.publish(index);
            let Replica { life, turn, clocks, .. } = self.replicas[index];
            match step {
                // Slots that are no longer active can be released at once.
                Step::Wait { .. } if is_changed => {}
                Step::Wait { until } => {
                    let event = Event::Local { replica: index, life, event: LocalEvent::Wake { turn } };
                    return self.schedule_at(clocks.real(until), event);
                }
                Step::Send { request, deadline } => {
                    let timeout = LocalEvent::Reply { turn, response: Response::Failed };
                    self.schedule_at(clocks.real(deadline), Event::Local { replica: index, life, event: timeout });
                    if let Some(latency) = self.latency(index) {
                        self.schedule(latency, Event::Arrive { replica: index, life, turn, request });
                    }
                    return;
                }
                Step::Left(_) => return self.kill(index),
            }
        }
    }

    /// Publishes the slots of a state machine. Returns whether the active ones changed.
    fn publish(&mut self, index: usize) -> bool {
        let replica = &mut self.replicas[index];
        let Some(machine) = &replica.machine else { return false };
        let old = replica.published;
        let published = Published {
            active: machine.active(),
            active_until: machine.active_until(),
            work_deadline: machine.work_deadline(),
            cached: machine.cached().unwrap_or_default(),
        };
        self.losses += machine.losses() - replica.losses;
        replica.losses = machine.losses();
        replica.published = published;
        let started = published.active.difference(old.active);
        self.moves += started.len() as u64;
        replica.queued = replica.queued.intersection(published.active).union(started);
        if published.cached != old.cached {
            replica.synced = replica.synced.intersection(published.cached);
            replica.lists += 1;
            let (list, life) = (replica.lists, replica.life);
            let delay = SECOND / 20 + self.up_to(SECOND * 9 / 10);
            let event = LocalEvent::Listed { list, slots: published.cached };
            self.schedule(delay, Event::Local { replica: index, life, event });
        }
        self.abort(index);
        self.reconcile(index);
        published.active != old.active
    }

    /// Ends reconciliations whose deadline has passed.
    fn abort(&mut self, index: usize) {
        let now = self.now;
        let replica = &mut self.replicas[index];
        if !replica.is_open(now) {
            replica.queued = replica.queued.union(replica.running().intersection(replica.published.active));
            replica.running = [None; SLOTS as usize];
        }
    }

    /// Starts the reconciliations of queued keys.
    fn reconcile(&mut self, index: usize) {
        let now = self.now;
        let replica = &mut self.replicas[index];
        if !replica.is_valid(now) {
            return;
        }
        let ready = replica.queued.intersection(replica.published.active).difference(replica.running());
        replica.queued = replica.queued.difference(ready);
        let (life, versions) = (replica.life, replica.versions);
        for slot in ready.iter() {
            let version = versions[position(slot)];
            self.replicas[index].running[position(slot)] = Some(version);
            let duration = self.up_to(RECONCILIATION);
            let event = LocalEvent::ReconciliationEnds { slot, version };
            self.schedule(duration, Event::Local { replica: index, life, event });
        }
    }

    fn reconciliation_ended(&mut self, index: usize, slot: Slot, version: u64) {
        let now = self.now;
        self.abort(index);
        let replica = &mut self.replicas[index];
        if replica.running[position(slot)] != Some(version) || !replica.is_open(now) {
            return;
        }
        replica.running[position(slot)] = None;
        let reconciled = &mut self.reconciled[position(slot)];
        *reconciled = version.max(*reconciled);
        let is_drained = !replica.published.active.contains(slot);
        self.reconcile(index);
        if is_drained {
            self.wake(index);
        }
    }

    fn listed(&mut self, index: usize, list: u64, slots: SlotSet) {
        let replica = &mut self.replicas[index];
        if replica.lists != list {
            return;
        }
        if replica.is_cut {
            let life = replica.life;
            let event = Event::Local { replica: index, life, event: LocalEvent::Listed { list, slots } };
            return self.schedule(CACHE_RETRY, event);
        }
        for slot in slots.iter() {
            self.replicas[index].synced.insert(slot);
            self.observe(index, slot, self.versions[position(slot)]);
        }
        self.reconcile(index);
        self.wake(index);
    }

    fn changed(&mut self, index: usize, slot: Slot, version: u64) {
        let replica = &self.replicas[index];
        if replica.is_cut {
            let life = replica.life;
            let event = Event::Local { replica: index, life, event: LocalEvent::Changed { slot, version } };
            return self.schedule(CACHE_RETRY, event);
        }
        // A list that is in progress contains the change.
        if replica.synced.contains(slot) {
            self.observe(index, slot, version);
            self.reconcile(index);
        }
    }

    /// Updates the cache, and queues the key if the slot is active.
    fn observe(&mut self, index: usize, slot: Slot, version: u64) {
        let replica = &mut self.replicas[index];
        let known = &mut replica.versions[position(slot)];
        if version > *known {
            *known = version;
            if replica.published.active.contains(slot) {
                replica.queued.insert(slot);
            }
        }
    }

    /// Changes a random object, and schedules the next change.
    fn change(&mut self) {
        let slot = Slot::all().nth(self.random.usize(..usize::from(SLOTS)));
        let Some(slot) = slot.filter(|_| self.now < self.options.faults_end + SETTLED) else { return };
        self.versions[position(slot)] += 1;
        let version = self.versions[position(slot)];
        for index in 0..self.replicas.len() {
            let life = self.replicas[index].life;
            let delay = self.up_to(SECOND / 10);
            let event = LocalEvent::Changed { slot, version };
            self.schedule(delay, Event::Local { replica: index, life, event });
        }
        let next = self.up_to(SECOND / 4);
        self.schedule(next, Event::Change);
    }

    fn arrive(&mut self, replica: usize, life: u64, turn: u64, request: Request) {
        let response = self.server.apply(request);
        if let Some(latency) = self.latency(replica) {
            self.schedule(latency, Event::Local { replica, life, event: LocalEvent::Reply { turn, response } });
        }
    }

    /// Lets a random fault occur, and schedules the next one.
    fn fault(&mut self, index: usize) {
        if self.now >= self.options.faults_end {
            return;
        }
        let length = self.up_to(35 * SECOND).min(self.options.faults_end - self.now);
        let replica = &mut self.replicas[index];
        let life = replica.life;
        match self.random.u32(..10) {
            0..4 if !replica.is_paused && replica.machine.is_some() => {
                replica.is_paused = true;
                self.schedule(length, Event::Resume { replica: index, life });
            }
            4..7 if !replica.is_cut => {
                replica.is_cut = true;
                self.schedule(length, Event::Reconnect { replica: index });
            }
            7 => self.stop(index),
            8 if replica.machine.is_some() => self.kill(index),
            _ => {}
        }
        let next = self.up_to(30 * SECOND);
        self.schedule(next, Event::Fault { replica: index });
    }

    /// Continues a paused process: what happened meanwhile is handled in any order.
    fn resume(&mut self, index: usize) {
        let replica = &mut self.replicas[index];
        replica.is_paused = false;
        let mut backlog = std::mem::take(&mut replica.backlog);
        self.random.shuffle(&mut backlog);
        for event in backlog {
            self.handle(event);
            self.check();
        }
    }

    /// Returns the latency of a message of a replica; `None` if it is lost.
    fn latency(&mut self, replica: usize) -> Option<Duration> {
        let is_faulty = self.now < self.options.faults_end;
        let conditions = Conditions { is_cut: self.replicas[replica].is_cut, is_faulty };
        conditions.latency(&mut self.random)
    }

    fn up_to(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(self.random.f64())
    }

    fn schedule(&mut self, delay: Duration, event: Event) {
        self.schedule_at(self.now + delay, event);
    }

    /// Schedules an event; one in the past occurs now.
    fn schedule_at(&mut self, at: Duration, event: Event) {
        self.scheduled += 1;
        self.events.insert((at.max(self.now), self.scheduled), event);
    }
}

fn position(slot: Slot) -> usize {
    usize::from(slot.index())
}
