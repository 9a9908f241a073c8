//! The runner: executes the steps of the state machine, and publishes the slots of this replica.

use std::{fmt, sync::Arc};

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kubewright_names::validation;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    Sharding,
    error::ShardingError,
    leases::{Incompatible, LeaseNames},
    metrics::ShardingMetrics,
    ownership::{Ownership, Published},
    requests::Requests,
    slot::{SLOTS, SlotSet},
    state_machine::{Policy, Response, StateMachine, Step, Time, Waiting},
    table::Fleet,
};
use crate::{
    error::Error,
    leader_election::{self, ConfigError, is_permanent},
};

/// Acquires and releases the slots of this replica.
///
/// Caches and controllers of the [`Sharding`] must run concurrently: a replica acquires a slot when they have synced
/// it.
pub struct ShardingRunner {
    sharding: Sharding,
    lease: leader_election::Policy,
    requests: Requests,
    metrics: ShardingMetrics,
}

impl ShardingRunner {
    pub(super) fn new(sharding: Sharding, client: Client) -> Result<Self, ShardingError> {
        let config = &sharding.0.config;
        let name = || sharding.name().to_owned();
        let invalid = |source| ShardingError::Config { name: name(), source };
        let lease = config.policy().map_err(invalid)?;
        // It is part of the names of Leases, and the value of their label.
        let mut reasons = validation::dns_1123_subdomain(sharding.name());
        reasons.append(&mut validation::label_value(sharding.name()));
        if let Some(reason) = reasons.into_iter().next() {
            return Err(ShardingError::InvalidName { name: name(), reason });
        }
        let namespace = config.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        if namespace.is_empty() {
            return Err(invalid(ConfigError::MissingNamespace));
        }
        let metrics = config.metrics.clone().unwrap_or_default();
        let metrics = ShardingMetrics::new(&metrics, sharding.name());
        let requests = Requests::new(client, namespace, sharding.name());
        Ok(ShardingRunner { sharding, lease, requests, metrics })
    }

    /// Acquires slots until `leaving` or `stop`. The slots are then released as their reconciliations end, and the
    /// others acquire them. After `stop` the runner ends: cancel it when the controllers have ended.
    ///
    /// Dropping the future ends all reconciliations, and releases nothing.
    ///
    /// # Errors
    /// Fails if the API server rejects the requests of a replica without a Lease for the renew deadline, for example
    /// because a permission is missing, and if reconciliations do not end in time because they block their thread.
    pub async fn run(self, leaving: CancellationToken, stop: CancellationToken) -> Result<(), ShardingError> {
        let sharding = self.sharding.clone();
        if !sharding.start() {
            return Err(ShardingError::AlreadyStarted { name: sharding.name().to_owned() });
        }
        let _end = EndGuard(sharding.clone());
        tokio::select! {
            biased;
            result = Running::new(self).run(&leaving, &stop) => result,
            slots = sharding.ownership().blocked() => {
                Err(ShardingError::WorkStillRuns { name: sharding.name().to_owned(), slots })
            }
        }
    }
}

impl fmt::Debug for ShardingRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardingRunner").field("sharding", &self.sharding).finish_non_exhaustive()
    }
}

/// Ends all processing when the runner ends or is dropped.
struct EndGuard(Sharding);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.ownership().end();
        self.0.0.status.end();
    }
}

/// A running runner.
struct Running {
    runner: ShardingRunner,
    ownership: Arc<Ownership>,
    machine: StateMachine,
    epoch: Instant,
    active: SlotSet,
    last_error: Option<Error>,
    /// Since when all requests were rejected.
    rejected_since: Option<Instant>,
    /// The reason for which the replica waits, to log each once.
    waiting: Option<Waiting>,
}

impl Running {
    fn new(runner: ShardingRunner) -> Self {
        let sharding = &runner.sharding;
        let policy = Policy {
            lease: runner.lease.clone(),
            names: LeaseNames::new(sharding.name()),
            labels: runner.requests.labels(sharding.0.config.labels.clone()),
            fleet: Fleet::new(sharding.field(), sharding.0.controllers.lock().clone()),
        };
        Running {
            ownership: Arc::clone(sharding.ownership()),
            machine: StateMachine::new(policy, fastrand::Rng::new()),
            runner,
            epoch: Instant::now(),
            active: SlotSet::EMPTY,
            last_error: None,
            rejected_since: None,
            waiting: None,
        }
    }

    async fn run(mut self, leaving: &CancellationToken, stop: &CancellationToken) -> Result<(), ShardingError> {
        loop {
            if leaving.is_cancelled() || stop.is_cancelled() {
                self.machine.leave();
            }
            if stop.is_cancelled() {
                if !self.runner.sharding.0.config.release_on_stop {
                    return Ok(());
                }
                self.machine.end(self.now());
            }
            let step = self.machine.next(self.now(), Timestamp::now(), self.ownership.local());
            let is_changed = self.publish(&step);
            match step {
                // Slots that are no longer active may be drained already.
                Step::Wait { .. } if is_changed => {}
                Step::Wait { until } => self.wait(until, leaving, stop).await,
                Step::Send { request, deadline } => {
                    let result = self.runner.requests.send(request, self.instant(deadline)).await;
                    self.responded(result);
                }
                Step::Left(is_free) => {
                    if !is_free {
                        let error = self.last_error.take().map(|error| error.to_string());
                        tracing::warn!(fleet = self.fleet(), error, "could not release the slots; they expire");
                    }
                    return Ok(());
                }
            }
            self.check_rejection()?;
        }
    }

    async fn wait(&self, until: Time, leaving: &CancellationToken, stop: &CancellationToken) {
        tokio::select! {
            () = sleep_until(self.instant(until)) => {}
            () = self.ownership.changed() => {}
            () = leaving.cancelled(), if !leaving.is_cancelled() => {}
            () = stop.cancelled(), if !stop.is_cancelled() => {}
        }
    }

    /// Publishes the decisions of the state machine. Returns whether the active slots changed.
    fn publish(&mut self, step: &Step) -> bool {
        let machine = &self.machine;
        let active = machine.active();
        let is_changed = self.ownership.publish(Published {
            active,
            active_until: self.instant(machine.active_until()),
            work_deadline: machine.is_member().then(|| self.instant(machine.work_deadline())),
            cached: machine.cached(),
        });
        if is_changed {
            let (acquired, released) = (active.difference(self.active), self.active.difference(active));
            tracing::info!(fleet = self.fleet(), %active, %acquired, %released, "the slots of this replica changed");
            self.active = active;
        }
        self.log_waiting();
        let step_end = match step {
            Step::Send { deadline: end, .. } | Step::Wait { until: end } => *end,
            Step::Left(_) => self.now(),
        };
        let waiting = self.waiting.as_ref().map(|waiting| describe(waiting, self.last_error.as_ref()));
        let due = self.instant(step_end + self.runner.lease.lease_duration);
        self.runner.sharding.0.status.set(due, waiting);
        self.runner.metrics.set(active, self.machine.members(), self.machine.losses());
        is_changed
    }

    fn log_waiting(&mut self) {
        let waiting = self.machine.waiting();
        if waiting == self.waiting {
            return;
        }
        match &waiting {
            Some(waiting @ (Waiting::Incompatible(_) | Waiting::Full | Waiting::NoTable)) => {
                let reason = describe(waiting, None);
                tracing::warn!(fleet = self.fleet(), reason, "this replica waits for slots");
            }
            Some(_) => {}
            None if self.machine.is_member() => tracing::info!(fleet = self.fleet(), "this replica shares the slots"),
            None => {}
        }
        self.waiting = waiting;
    }

    fn responded(&mut self, result: Result<Response, Error>) {
        let response = match result {
            Ok(response) => {
                (self.rejected_since, self.last_error) = (None, None);
                response
            }
            Err(error) => {
                tracing::warn!(fleet = self.fleet(), %error, "request for a Lease failed; retrying");
                let rejected_since = self.rejected_since.unwrap_or_else(Instant::now);
                self.rejected_since = is_permanent(&error).then_some(rejected_since);
                self.last_error = Some(error);
                Response::Failed
            }
        };
        self.machine.response(self.now(), response);
    }

    /// Fails if requests have been rejected for the renew deadline: permissions that are granted together with the
    /// start of the process are in effect by then.
    fn check_rejection(&mut self) -> Result<(), ShardingError> {
        let waited = self.rejected_since.map(|since| since.elapsed()).unwrap_or_default();
        if self.machine.is_member() || waited < self.runner.lease.renew_deadline {
            return Ok(());
        }
        match self.last_error.take() {
            Some(error) => Err(ShardingError::Rejected { name: self.fleet(), waited, error }),
            None => Ok(()),
        }
    }

    fn fleet(&self) -> String {
        self.runner.requests.fleet()
    }

    fn now(&self) -> Time {
        self.epoch.elapsed()
    }

    fn instant(&self, time: Time) -> Instant {
        self.epoch + time
    }
}

/// Describes why a replica has no Lease.
fn describe(waiting: &Waiting, error: Option<&Error>) -> String {
    match waiting {
        Waiting::NotListed => match error {
            Some(error) => format!("the Leases are not listed: {error}"),
            None => "the Leases are not listed yet".to_owned(),
        },
        Waiting::Incompatible(Incompatible::InvalidTable(error)) => error.to_string(),
        Waiting::Incompatible(Incompatible::OtherFleet(fleet)) => format!(
            "other replicas share {}: this one starts when they have ended; two programs need different names",
            fleet.describe()
        ),
        Waiting::NotSynced => "the objects of its slots are not in the caches yet".to_owned(),
        Waiting::Full => format!("there are {SLOTS} replicas, which is the maximum; reduce their number"),
        Waiting::NoTable => {
            "the Lease of the slots was deleted: it is created again when its holders have ended".to_owned()
        }
    }
}
