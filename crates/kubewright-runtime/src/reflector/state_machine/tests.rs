//! Tests of the rules for versions, retries and delays, without a server.

mod failures;
mod lists;
mod streams;
mod watches;

use super::*;
use crate::reflector::{backoff::ExponentialBackoff, failure::ReflectorError};

/// A state machine with a simulated clock: waits pass at once and are recorded.
struct Simulation {
    machine: StateMachine,
    now: Instant,
    waits: Vec<Duration>,
}

const MS: fn(u64) -> Duration = Duration::from_millis;

fn policy() -> Policy {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    Policy {
        page_size: None,
        watch_list: false,
        watch_timeout: (minutes(5), minutes(10)),
        idle_timeout: None,
        max_internal_error_retry: Duration::from_secs(30),
    }
}

fn simulation(policy: Policy) -> Simulation {
    let backoff = ExponentialBackoff::default().jitter(0.0);
    let now = Instant::now();
    let machine = StateMachine::new(policy, Box::new(backoff), fastrand::Rng::with_seed(6), now);
    Simulation { machine, now, waits: Vec::new() }
}

fn started() -> Simulation {
    simulation(policy())
}

/// A simulation that has listed the objects at this version and will watch next.
fn synced(version: &str) -> Simulation {
    let mut simulation = started();
    simulation.list();
    simulation.listed(version);
    simulation
}

fn streaming() -> Simulation {
    simulation(Policy { watch_list: true, ..policy() })
}

impl Simulation {
    fn next(&mut self) -> Step {
        loop {
            match self.machine.next(self.now) {
                Step::Wait(wait) => {
                    self.waits.push(wait);
                    self.now += wait;
                }
                request => return request,
            }
        }
    }

    /// Returns the version (empty for the most recent one) and the limit of the next list.
    fn list(&mut self) -> (String, Option<u32>) {
        let Step::List(options) = self.next() else { panic!("expected a list") };
        (version(&options), options.limit)
    }

    /// Starts a watch. If the version of the server is compared before, it has not gone back.
    fn watch(&mut self) -> ListOptions {
        let mut step = self.next();
        if let (Step::Compare(_), Some(last)) = (&step, self.machine.last_version.clone()) {
            assert!(self.machine.compared(self.now, last.as_str()).is_none());
            step = self.next();
        }
        let Step::Watch(options) = step else { panic!("expected a watch") };
        self.machine.watch_started(self.now);
        options
    }

    fn watch_version(&mut self) -> String {
        version(&self.watch())
    }

    fn listed(&mut self, version: &str) {
        assert!(self.machine.page_received(self.now, version, None));
    }

    fn page(&mut self, token: &str) {
        assert!(!self.machine.page_received(self.now, "7", Some(token.into())));
    }

    fn list_fails(&mut self, failure: Failure) {
        self.machine.list_failed(self.now, failure);
    }

    fn watch_fails(&mut self, failure: Failure) {
        self.machine.watch_failed(self.now, failure);
    }

    fn event(&mut self, event: EventType, version: &str) -> Handling {
        self.machine.event_received(self.now, event, version)
    }

    fn watch_ends_after(&mut self, time: Duration) -> Option<ReflectorError> {
        self.now += time;
        self.machine.watch_ended(self.now)
    }
}

fn version(options: &ListOptions) -> String {
    options.resource_version.as_ref().map(|version| version.as_str().to_owned()).unwrap_or_default()
}

const BOOKMARK: EventType = EventType::Bookmark { initial_events_end: false };
const INITIAL_EVENTS_END: EventType = EventType::Bookmark { initial_events_end: true };
