//! The simulated world: real time, events, processes and the API server.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;

use super::{
    SECOND,
    network::Conditions,
    process::{Clocks, Process, Work},
};
use crate::leader_election::{
    lease_store::LeaseStore,
    state_machine::{LossReason, Request, Response, Step},
};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// The largest difference of a clock's rate from real time.
    pub(super) drift: f64,
    /// Until when faults occur.
    pub(super) faults_end: Duration,
}

/// An event, and the life and the step of the process to which it belongs.
#[derive(Debug)]
pub(super) enum Event {
    Start {
        process: usize,
    },
    Wake {
        process: usize,
        life: u64,
        turn: u64,
    },
    /// A request arrives at the API server, even if its process no longer exists.
    Arrive {
        process: usize,
        life: u64,
        turn: u64,
        request: Request,
    },
    /// A response arrives, or the request timed out.
    Reply {
        process: usize,
        life: u64,
        turn: u64,
        response: Response,
    },
    WorkEnds {
        process: usize,
        life: u64,
    },
    Fault {
        process: usize,
    },
    Resume {
        process: usize,
        life: u64,
    },
    Join {
        process: usize,
    },
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Duration,
    pub(super) random: Rng,
    /// The number of leaderships, and of those that were lost.
    pub(super) terms: u64,
    pub(super) losses: u64,
    options: Options,
    store: LeaseStore,
    events: BTreeMap<(Duration, u64), Event>,
    scheduled: u64,
    processes: Vec<Process>,
    violation: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        let mut random = Rng::with_seed(seed);
        let count = random.usize(2..=4);
        let processes = (0..count).map(|_| Process::new(Clocks::new(options.drift, &mut random))).collect();
        let mut world = World {
            now: Duration::ZERO,
            random,
            terms: 0,
            losses: 0,
            options,
            store: LeaseStore::default(),
            events: BTreeMap::new(),
            scheduled: 0,
            processes,
            violation: None,
        };
        for process in 0..count {
            let start = world.up_to(3 * SECOND);
            world.schedule(start, Event::Start { process });
            let fault = world.up_to(30 * SECOND);
            world.schedule(fault, Event::Fault { process });
        }
        world
    }

    /// Processes all events up to a time. Returns the first violation of the mutual exclusion.
    pub(super) fn run_until(&mut self, end: Duration) -> Result<(), String> {
        while self.step(end)? {}
        self.now = end;
        Ok(())
    }

    /// Processes events until there is a leader, up to a time.
    pub(super) fn run_until_leader(&mut self, end: Duration) -> Result<(), String> {
        while self.working().is_empty() && self.step(end)? {}
        Ok(())
    }

    /// Returns the processes whose work runs.
    pub(super) fn working(&self) -> Vec<usize> {
        (0..self.processes.len()).filter(|process| self.processes[*process].is_working(self.now)).collect()
    }

    /// Ends a process without notice. It is restarted.
    pub(super) fn kill(&mut self, process: usize) {
        self.processes[process].end();
        let delay = SECOND + self.up_to(2 * SECOND);
        self.schedule(delay, Event::Start { process });
    }

    /// Stops a process: its work is cancelled, takes this time to end, and the lease is released.
    pub(super) fn stop(&mut self, index: usize, work_duration: Duration) {
        let process = &mut self.processes[index];
        if process.machine.is_none() || process.is_stopping || process.is_paused {
            return;
        }
        process.is_stopping = true;
        match process.work {
            Some(_) => {
                let life = process.life;
                self.schedule(work_duration, Event::WorkEnds { process: index, life });
            }
            None => self.release(index),
        }
    }

    /// Processes the next event. Returns `false` if there is none before the end.
    fn step(&mut self, end: Duration) -> Result<bool, String> {
        let Some(next) = self.events.first_entry().filter(|next| next.key().0 <= end) else { return Ok(false) };
        self.now = next.key().0;
        let event = next.remove();
        self.handle(event);
        self.violation.take().map_or(Ok(true), Err)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start { process } => self.start(process),
            Event::Arrive { process, life, turn, request } => self.arrive(process, life, turn, &request),
            Event::Fault { process } => self.fault(process),
            Event::Resume { process, life } if self.processes[process].life == life => self.resume(process),
            Event::Resume { .. } => {}
            Event::Join { process } => self.processes[process].is_cut = false,
            Event::Wake { process, life, .. }
            | Event::Reply { process, life, .. }
            | Event::WorkEnds { process, life } => {
                let state = &mut self.processes[process];
                match state.life == life && state.machine.is_some() {
                    true if state.is_paused => state.backlog.push(event),
                    true => self.handle_running(event),
                    false => {}
                }
            }
        }
    }

    /// Handles an event of a process that runs.
    fn handle_running(&mut self, event: Event) {
        match event {
            Event::Wake { process, turn, .. } if self.processes[process].turn == turn => self.drive(process),
            Event::Reply { process, turn, response, .. } if self.processes[process].turn == turn => {
                self.respond(process, response);
                self.drive(process);
            }
            Event::WorkEnds { process, .. } => self.work_ended(process),
            _ => {}
        }
    }

    fn start(&mut self, index: usize) {
        let process = &mut self.processes[index];
        if process.machine.is_none() {
            process.start(index, &mut self.random);
            self.drive(index);
        }
    }

    /// Executes the next step of a process.
    fn drive(&mut self, index: usize) {
        let now = self.now;
        let process = &mut self.processes[index];
        let Some(machine) = &mut process.machine else { return };
        let step = machine.next(process.clocks.monotonic(now), process.clocks.wall(now));
        process.turn += 1;
        let (life, turn) = (process.life, process.turn);
        match step {
            Step::Wait { until } => {
                let at = process.clocks.real(until);
                self.schedule_at(at, Event::Wake { process: index, life, turn });
            }
            Step::Send { request, deadline } => {
                let at = process.clocks.real(deadline);
                let timeout = Event::Reply { process: index, life, turn, response: Response::Failed };
                self.schedule_at(at, timeout);
                if let Some(latency) = self.latency(index) {
                    self.schedule(latency, Event::Arrive { process: index, life, turn, request });
                }
            }
            Step::Lost(reason) => self.lost(index, &reason),
            Step::Released(_) => self.kill(index),
        }
    }

    fn arrive(&mut self, process: usize, life: u64, turn: u64, request: &Request) {
        let response = self.store.apply(request);
        if let Some(latency) = self.latency(process) {
            self.schedule(latency, Event::Reply { process, life, turn, response });
        }
    }

    /// Handles a response: the work starts, or its deadline is extended.
    fn respond(&mut self, index: usize, response: Response) {
        let now = self.now;
        let process = &mut self.processes[index];
        let Some(machine) = &mut process.machine else { return };
        machine.response(process.clocks.monotonic(now), response);
        if !machine.is_leader() {
            return;
        }
        let deadline = machine.work_deadline();
        match &mut process.work {
            Some(work) => work.deadline = deadline,
            None => {
                process.work = Some(Work { deadline, is_lost: false });
                self.terms += 1;
                let working = self.working();
                if working.len() > 1 {
                    self.violation = Some(format!("processes {working:?} work at {now:?}"));
                }
            }
        }
    }

    /// Cancels the work of a lost leadership. It ends by itself, or is aborted at its deadline.
    fn lost(&mut self, index: usize, reason: &LossReason) {
        self.losses += 1;
        let needed = self.up_to(8 * SECOND);
        let (now, process) = (self.now, &mut self.processes[index]);
        let (life, clocks) = (process.life, process.clocks);
        let Some(work) = &mut process.work else { return self.kill(index) };
        work.is_lost = true;
        let end = match reason {
            LossReason::HolderChanged { .. } => now,
            LossReason::RenewDeadlineExceeded => clocks.real(work.deadline).min(now + needed).max(now),
        };
        self.schedule_at(end, Event::WorkEnds { process: index, life });
    }

    fn work_ended(&mut self, index: usize) {
        let Some(work) = self.processes[index].work.take() else { return };
        match work.is_lost {
            true => self.kill(index),
            false => self.release(index),
        }
    }

    fn release(&mut self, index: usize) {
        let now = self.now;
        let process = &mut self.processes[index];
        let Some(machine) = &mut process.machine else { return };
        machine.release(process.clocks.monotonic(now));
        self.drive(index);
    }

    /// Lets a random fault occur, and schedules the next one.
    fn fault(&mut self, index: usize) {
        if self.now >= self.options.faults_end {
            return;
        }
        let length = self.up_to(35 * SECOND).min(self.options.faults_end - self.now);
        let process = &mut self.processes[index];
        let life = process.life;
        match self.random.u32(..10) {
            0..4 if !process.is_paused && process.machine.is_some() => {
                process.is_paused = true;
                self.schedule(length, Event::Resume { process: index, life });
            }
            4..8 if !process.is_cut => {
                process.is_cut = true;
                self.schedule(length, Event::Join { process: index });
            }
            8 => self.stop(index, length.min(15 * SECOND)),
            9 if process.machine.is_some() => self.kill(index),
            _ => {}
        }
        let next = self.up_to(30 * SECOND);
        self.schedule(next, Event::Fault { process: index });
    }

    /// Continues a paused process: what happened meanwhile is handled in any order.
    fn resume(&mut self, index: usize) {
        let process = &mut self.processes[index];
        process.is_paused = false;
        let mut backlog = std::mem::take(&mut process.backlog);
        self.random.shuffle(&mut backlog);
        backlog.into_iter().for_each(|event| self.handle(event));
    }

    /// Returns the latency of a message of a process; `None` if it is lost.
    fn latency(&mut self, process: usize) -> Option<Duration> {
        let is_faulty = self.now < self.options.faults_end;
        let conditions = Conditions { is_cut: self.processes[process].is_cut, is_faulty };
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
