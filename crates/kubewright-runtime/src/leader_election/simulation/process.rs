//! A simulated process: its clocks, its elector and the leader's work.

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::world::Event;
use crate::leader_election::{
    config::LeaderElectionConfig,
    state_machine::{StateMachine, Time},
};

/// The largest difference of a wall clock from real time, in seconds.
const MAX_SKEW: i64 = 3600;

/// The clocks of one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    rate: f64,
    offset: Duration,
    skew: SignedDuration,
}

impl Clocks {
    pub(crate) fn new(drift: f64, random: &mut Rng) -> Self {
        Clocks {
            rate: 1.0 + drift * (2.0 * random.f64() - 1.0),
            offset: Duration::from_secs(random.u64(..100_000)),
            skew: SignedDuration::from_secs(random.i64(-MAX_SKEW..=MAX_SKEW)),
        }
    }

    /// Returns the time of the monotonic clock at a real time.
    pub(crate) fn monotonic(self, now: Duration) -> Time {
        self.offset + now.mul_f64(self.rate)
    }

    /// Returns the real time at which the monotonic clock shows a time. It is not earlier, in spite of rounding.
    pub(crate) fn real(self, time: Time) -> Duration {
        time.saturating_sub(self.offset).div_f64(self.rate) + Duration::from_nanos(10)
    }

    pub(crate) fn wall(self, now: Duration) -> Timestamp {
        let now = SignedDuration::try_from(now).unwrap();
        Timestamp::from_second(1_800_000_000).unwrap().checked_add(now + self.skew).unwrap()
    }
}

/// The leader's work.
#[derive(Debug)]
pub(super) struct Work {
    /// When it is aborted, on the monotonic clock of the process.
    pub(super) deadline: Time,
    /// Whether the leadership is lost.
    pub(super) is_lost: bool,
}

/// A process with an elector.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) clocks: Clocks,
    /// `None` if the process does not run.
    pub(super) machine: Option<StateMachine>,
    pub(super) work: Option<Work>,
    /// The number of restarts: events of earlier lives are ignored.
    pub(super) life: u64,
    /// The number of steps: events of earlier steps, such as the timeout of a request that was answered, are ignored.
    pub(super) turn: u64,
    pub(super) is_stopping: bool,
    pub(super) is_paused: bool,
    pub(super) is_cut: bool,
    /// The events of a paused process.
    pub(super) backlog: Vec<Event>,
}

impl Process {
    pub(super) fn new(clocks: Clocks) -> Self {
        Process {
            clocks,
            machine: None,
            work: None,
            life: 0,
            turn: 0,
            is_stopping: false,
            is_paused: false,
            is_cut: false,
            backlog: Vec::new(),
        }
    }

    /// Starts the process with a new identity.
    pub(super) fn start(&mut self, index: usize, random: &mut Rng) {
        let policy = LeaderElectionConfig::new("lease", format!("{index}-{}", self.life)).policy().unwrap();
        self.machine = Some(StateMachine::new(policy, random.fork()));
    }

    /// Ends the process with its work.
    pub(super) fn end(&mut self) {
        self.machine = None;
        self.work = None;
        self.life += 1;
        self.is_stopping = false;
        self.is_paused = false;
        self.backlog.clear();
    }

    /// Returns whether the leader's work runs, or would run after a pause: it is not polled after its deadline.
    pub(super) fn is_working(&self, now: Duration) -> bool {
        self.work.as_ref().is_some_and(|work| self.clocks.monotonic(now) < work.deadline)
    }
}
