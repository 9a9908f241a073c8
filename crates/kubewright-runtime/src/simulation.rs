//! A simulation engine: processes with their own clocks send requests to a server, and are paused, cut off, stopped and
//! killed.
//!
//! Wall clocks differ by up to an hour, and the rates of the monotonic clocks by up to twice the drift. Requests and
//! responses are delayed and lost, and delayed writes are applied long after their timeout. A paused process continues
//! with its old state, and its clocks have advanced.

mod clocks;
mod seeds;

use std::{collections::BTreeMap, ops::Range, time::Duration};

use fastrand::Rng;
use k8s_openapi::jiff::Timestamp;

pub(crate) use clocks::Clocks;
pub(crate) use seeds::seeds;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// What is simulated: the processes, and the server to which they send requests.
pub(crate) trait Model: Sized {
    /// A process that runs.
    type Process;
    type Request;
    type Response;
    /// An event of a process, besides the responses and the end of a wait.
    type Event;

    /// The response to a request that timed out.
    const FAILED: Self::Response;
    /// The faults, of ten, that cut a process off. Those before pause it, the next one stops it, and the one after that
    /// kills it.
    const CUTS: Range<u32>;

    /// Starts a process with a new identity.
    fn start(identity: String, random: Rng) -> Self::Process;

    /// Executes the next step of a process.
    fn drive(world: &mut World<Self>, index: usize);

    /// Processes a request in the server.
    fn serve(&mut self, request: Self::Request) -> Self::Response;

    /// Handles the response to a process, before its next step.
    fn respond(world: &mut World<Self>, index: usize, response: Self::Response);

    /// Handles an event of a process.
    fn handle(world: &mut World<Self>, index: usize, event: Self::Event);

    /// Stops a process, whose work takes up to this time to end.
    fn stop(world: &mut World<Self>, index: usize, work_duration: Duration);

    /// Changes the environment of the processes.
    fn change(_: &mut World<Self>) {}

    /// Sets the violation if an invariant is violated. Called after each event.
    fn check(_: &mut World<Self>) {}
}

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The largest difference of a clock's rate from real time.
    pub(crate) drift: f64,
    /// Until when faults occur.
    pub(crate) faults_end: Duration,
    /// Whether processes that ended are started again.
    pub(crate) restarts: bool,
}

pub(crate) enum Event<M: Model> {
    Start {
        process: usize,
    },
    /// A request arrives at the server, even if its process no longer exists.
    Arrive {
        process: usize,
        life: u64,
        turn: u64,
        request: M::Request,
    },
    /// The environment changes.
    #[cfg_attr(not(feature = "informers"), expect(dead_code, reason = "leader election has no environment"))]
    Change,
    Fault {
        process: usize,
    },
    Resume {
        process: usize,
        life: u64,
    },
    Reconnect {
        process: usize,
    },
    Local {
        process: usize,
        life: u64,
        event: LocalEvent<M>,
    },
}

/// An event of a process, which is handled when the process runs.
pub(crate) enum LocalEvent<M: Model> {
    Wake {
        turn: u64,
    },
    /// A response arrives, or the request timed out.
    Reply {
        turn: u64,
        response: M::Response,
    },
    Model(M::Event),
}

pub(crate) struct Process<M: Model> {
    pub(crate) clocks: Clocks,
    /// `None` if the process does not run.
    pub(crate) state: Option<M::Process>,
    pub(crate) is_paused: bool,
    pub(crate) is_cut: bool,
    /// The number of restarts: events of earlier lives are ignored.
    life: u64,
    /// The number of steps: events of earlier steps, such as the timeout of a request that was answered, are ignored.
    turn: u64,
    /// The events of a paused process.
    backlog: Vec<LocalEvent<M>>,
}

/// The simulated world: real time, events, processes and the model.
pub(crate) struct World<M: Model> {
    pub(crate) now: Duration,
    pub(crate) random: Rng,
    pub(crate) options: Options,
    pub(crate) model: M,
    pub(crate) processes: Vec<Process<M>>,
    pub(crate) violation: Option<String>,
    events: BTreeMap<(Duration, u64), Event<M>>,
    scheduled: u64,
}

impl<M: Model> World<M> {
    /// Creates a world of a random number of processes.
    pub(crate) fn new(seed: u64, options: Options, processes: Range<usize>, model: M) -> Self {
        let mut random = Rng::with_seed(seed);
        let count = random.usize(processes);
        let process = |clocks| Process {
            clocks,
            state: None,
            is_paused: false,
            is_cut: false,
            life: 0,
            turn: 0,
            backlog: Vec::new(),
        };
        let processes = (0..count).map(|_| process(Clocks::new(options.drift, &mut random))).collect();
        let (now, events) = (Duration::ZERO, BTreeMap::new());
        let mut world = World { now, random, options, model, processes, violation: None, events, scheduled: 0 };
        for process in 0..count {
            let start = world.up_to(3 * SECOND);
            world.schedule(start, Event::Start { process });
            let fault = world.up_to(30 * SECOND);
            world.schedule(fault, Event::Fault { process });
        }
        world
    }

    /// Processes all events up to a time. Returns the first violation.
    pub(crate) fn run_until(&mut self, end: Duration) -> Result<(), String> {
        self.run_while(end, |_| true)?;
        self.now = end;
        Ok(())
    }

    /// Processes events while a condition is met, up to a time.
    pub(crate) fn run_while(&mut self, end: Duration, condition: impl Fn(&Self) -> bool) -> Result<(), String> {
        while condition(self)
            && let Some(next) = self.events.first_entry().filter(|next| next.key().0 <= end)
        {
            self.now = next.key().0;
            let event = next.remove();
            self.handle(event);
            M::check(self);
            self.violation.take().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Ends a process without notice.
    pub(crate) fn kill(&mut self, index: usize) {
        let process = &mut self.processes[index];
        process.state = None;
        process.life += 1;
        process.is_paused = false;
        process.backlog.clear();
        if self.options.restarts {
            let delay = SECOND + self.up_to(2 * SECOND);
            self.schedule(delay, Event::Start { process: index });
        }
    }

    /// Returns a process that runs, and the time of its monotonic clock.
    pub(crate) fn running(&mut self, index: usize) -> Option<(&mut M::Process, Duration)> {
        let process = &mut self.processes[index];
        let now = process.clocks.monotonic(self.now);
        process.state.as_mut().map(|state| (state, now))
    }

    /// Calls a function for the next step of a process that runs, with the times of its clocks.
    pub(crate) fn next_step<T>(
        &mut self,
        index: usize,
        next: impl FnOnce(&mut M::Process, Duration, Timestamp) -> T,
    ) -> Option<T> {
        let process = &mut self.processes[index];
        let step = next(process.state.as_mut()?, process.clocks.monotonic(self.now), process.clocks.wall(self.now));
        process.turn += 1;
        Some(step)
    }

    /// Executes the next step of a process at a time of its clock, unless there is another one before.
    pub(crate) fn wake_at(&mut self, index: usize, time: Duration) {
        let process = &self.processes[index];
        let (at, wake) = (process.clocks.real(time), LocalEvent::Wake { turn: process.turn });
        self.schedule_local(at.saturating_sub(self.now), index, wake);
    }

    /// Sends a request of a process, which times out at a time of its clock.
    pub(crate) fn send(&mut self, index: usize, request: M::Request, deadline: Duration) {
        let Process { life, turn, clocks, .. } = self.processes[index];
        let timeout = LocalEvent::Reply { turn, response: M::FAILED };
        self.schedule_local(clocks.real(deadline).saturating_sub(self.now), index, timeout);
        if let Some(latency) = self.latency(index) {
            self.schedule(latency, Event::Arrive { process: index, life, turn, request });
        }
    }

    pub(crate) fn schedule_event(&mut self, delay: Duration, index: usize, event: M::Event) {
        self.schedule_local(delay, index, LocalEvent::Model(event));
    }

    pub(crate) fn up_to(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(self.random.f64())
    }

    pub(crate) fn schedule(&mut self, delay: Duration, event: Event<M>) {
        self.scheduled += 1;
        self.events.insert((self.now + delay, self.scheduled), event);
    }

    fn schedule_local(&mut self, delay: Duration, process: usize, event: LocalEvent<M>) {
        let life = self.processes[process].life;
        self.schedule(delay, Event::Local { process, life, event });
    }

    fn handle(&mut self, event: Event<M>) {
        match event {
            Event::Start { process } => self.start(process),
            Event::Arrive { process, life, turn, request } => {
                let response = self.model.serve(request);
                if let Some(latency) = self.latency(process) {
                    let event = LocalEvent::Reply { turn, response };
                    self.schedule(latency, Event::Local { process, life, event });
                }
            }
            Event::Change => M::change(self),
            Event::Fault { process } => self.fault(process),
            Event::Resume { process, life } if self.processes[process].life == life => self.resume(process),
            Event::Resume { .. } => {}
            Event::Reconnect { process } => self.processes[process].is_cut = false,
            Event::Local { process, life, event } => self.handle_local(process, life, event),
        }
    }

    /// Handles an event of a process, now or when the process is no longer paused.
    fn handle_local(&mut self, index: usize, life: u64, event: LocalEvent<M>) {
        let process = &mut self.processes[index];
        if process.life != life || process.state.is_none() {
            return;
        }
        if process.is_paused {
            return process.backlog.push(event);
        }
        match event {
            LocalEvent::Wake { turn } if process.turn == turn => M::drive(self, index),
            LocalEvent::Reply { turn, response } if process.turn == turn => {
                M::respond(self, index, response);
                M::drive(self, index);
            }
            LocalEvent::Wake { .. } | LocalEvent::Reply { .. } => {}
            LocalEvent::Model(event) => M::handle(self, index, event),
        }
    }

    fn start(&mut self, index: usize) {
        let process = &mut self.processes[index];
        if process.state.is_none() {
            process.state = Some(M::start(format!("{index}-{}", process.life), self.random.fork()));
            M::drive(self, index);
        }
    }

    /// Lets a random fault occur, and schedules the next one.
    fn fault(&mut self, index: usize) {
        if self.now >= self.options.faults_end {
            return;
        }
        let length = self.up_to(35 * SECOND).min(self.options.faults_end - self.now);
        let fault = self.random.u32(..10);
        let process = &mut self.processes[index];
        let (life, is_running) = (process.life, process.state.is_some());
        if fault < M::CUTS.start {
            if !process.is_paused && is_running {
                process.is_paused = true;
                self.schedule(length, Event::Resume { process: index, life });
            }
        } else if fault < M::CUTS.end {
            if !process.is_cut {
                process.is_cut = true;
                self.schedule(length, Event::Reconnect { process: index });
            }
        } else if fault == M::CUTS.end {
            M::stop(self, index, length);
        } else if fault == M::CUTS.end + 1 && is_running {
            self.kill(index);
        }
        let next = self.up_to(30 * SECOND);
        self.schedule(next, Event::Fault { process: index });
    }

    /// Continues a paused process: what happened meanwhile is handled in any order.
    fn resume(&mut self, index: usize) {
        let process = &mut self.processes[index];
        process.is_paused = false;
        let (life, mut backlog) = (process.life, std::mem::take(&mut process.backlog));
        self.random.shuffle(&mut backlog);
        for event in backlog {
            self.handle_local(index, life, event);
            M::check(self);
        }
    }

    /// Returns the latency of a message of a process; `None` if it is lost.
    fn latency(&mut self, process: usize) -> Option<Duration> {
        let usual = Duration::from_millis(self.random.u64(1..50));
        if self.processes[process].is_cut {
            return None;
        }
        if self.now >= self.options.faults_end {
            return Some(usual);
        }
        match self.random.u32(..100) {
            0..3 => None,
            3..8 => Some(Duration::from_millis(self.random.u64(..4000))),
            // Longer than the timeout: a write is applied after its sender gave up.
            8..10 => Some(Duration::from_millis(self.random.u64(..19_000))),
            _ => Some(usual),
        }
    }
}
