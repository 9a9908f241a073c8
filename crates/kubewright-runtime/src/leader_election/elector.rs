//! The elector: executes the steps of the state machine, and runs the leader's work.

use std::{fmt, panic::resume_unwind, pin::pin, time::Duration};

use k8s_openapi::{api::coordination::v1::Lease, jiff::Timestamp};
use kube::Client;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    config::{ConfigError, LeaderElectionConfig},
    metrics::ElectionMetrics,
    requests::{self, LeaseRequests},
    state_machine::{LossReason, Policy, Request, Response, StateMachine, Step, Time},
    status::{LeaderStatus, LeaseOverdue},
    work::{Fence, Work, WorkEnd},
};
use crate::error::Error;

/// How long aborted work can take to end. Work that does not is blocking its thread.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Elects a leader among the processes that use one Lease, and runs work only while this process is the leader.
///
/// Guarantees:
/// - the leader's work never runs in two processes at a time, under the assumptions below;
/// - a lease expires after its duration, counted on the monotonic clock from when this process first observed the
///   record. Wall clocks are not compared;
/// - the work is cancelled when a renewal did not succeed within the renew deadline after its first request, or when
///   half of the time between renew deadline and lease duration is left. If it has not ended shortly before the lease
///   expires, it is aborted, and it is never polled after that time;
/// - a renewal whose response is received before that counts from when it was sent, however long the request took;
/// - the work is aborted at once if the Lease has another holder;
/// - the lease is released only after the work has ended, and is renewed until then;
/// - every request has a timeout of half the renew deadline, at least one second;
/// - no task outlives [`run`](Self::run), except for work that blocks its thread.
///
/// Another candidate takes over within the lease duration and 2.2 retry periods after the last renewal of a leader that
/// crashed, and within 2.2 retry periods after a release.
///
/// # Assumptions
///
/// - Clients change the Lease only through electors that follow the same rules, such as those of client-go, and
///   identities are unique. A client that overwrites or deletes a held Lease breaks the mutual exclusion.
/// - The rates of the monotonic clocks differ by at most 4 %: work is aborted 5 % of the lease duration before it
///   expires, or, if that is less, half of the time between renew deadline and lease duration before it.
/// - The work ends when it is dropped: it neither blocks its thread nor leaves detached tasks or processes behind.
/// - A process may be paused at any time, for any time, for example by SIGSTOP or the migration of a virtual machine,
///   if its monotonic clock continues to run. Its work is not polled after the pause if the lease has expired, and
///   neither are tasks of the work that are [`fenced`](super::fenced), such as those of controllers. A request that the
///   work was about to send when the process was paused can still be sent afterwards. Updates and deletes with a
///   resource version then fail with a conflict, so use such preconditions for writes that must not be repeated.
///
/// # Example
///
/// ```no_run
/// use kubewright_runtime::CancellationToken;
/// use kubewright_runtime::leader_election::{LeaderElectionConfig, LeaderElector, lease_client, unique_identity};
///
/// # async fn example(stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
/// let client = lease_client(kubewright_runtime::kube::Config::infer().await?)?;
/// let elector = LeaderElector::new(client, LeaderElectionConfig::new("my-operator", unique_identity()))?;
/// elector.run(stop, |leading| async move {
///     // Run the controllers until `leading` is cancelled.
///     leading.cancelled().await;
/// }).await?;
/// # Ok(())
/// # }
/// ```
pub struct LeaderElector {
    policy: Policy,
    requests: LeaseRequests,
    release_on_stop: bool,
    status: LeaderStatus,
    fence: Fence,
    metrics: ElectionMetrics,
}

/// The reason why an election or a leadership ended.
#[derive(Debug, thiserror::Error)]
pub enum LeaderElectionError {
    /// The leadership ended although the process was not stopped. The work has ended.
    #[error("leader election lost: lease `{lease}` {}", describe_loss(reason, last_error.as_ref()))]
    Lost {
        /// The namespace and the name of the Lease.
        lease: String,
        /// Why the leadership ended.
        reason: LossReason,
        /// The last error of a request since the last renewal, if no renewal succeeded within the renew deadline.
        last_error: Option<Error>,
    },
    /// The leadership ended, but the work cannot be aborted: it blocks its thread. End the process immediately.
    #[error(
        "leader election lost: lease `{lease}` {}; the leader's work blocks its thread and still runs: \
         end the process",
        describe_loss(reason, None)
    )]
    WorkStillRuns {
        /// The namespace and the name of the Lease.
        lease: String,
        /// Why the leadership ended.
        reason: LossReason,
    },
    /// The API server rejects the requests of this candidate, and has done so for the renew deadline.
    #[error("leader election by lease `{lease}` failed for {waited:?}: {error}")]
    Rejected {
        /// The namespace and the name of the Lease.
        lease: String,
        /// How long requests were rejected.
        waited: Duration,
        /// The error, with the verb and the resource of the request.
        error: Error,
    },
}

fn describe_loss(reason: &LossReason, last_error: Option<&Error>) -> String {
    let reason = match reason {
        LossReason::RenewDeadlineExceeded => "was not renewed within the renew deadline".to_owned(),
        LossReason::HolderChanged { holder } if holder.is_empty() => "was released by another client".to_owned(),
        LossReason::HolderChanged { holder } => format!("is held by `{holder}`"),
    };
    match last_error {
        Some(error) => format!("{reason}: {error}"),
        None => reason,
    }
}

impl LeaderElector {
    /// Creates an elector. The client should be a dedicated one without retries, from
    /// [`lease_client`](super::lease_client).
    ///
    /// # Errors
    /// Fails if an option is missing or contradicts another one.
    pub fn new(client: Client, config: LeaderElectionConfig) -> Result<Self, ConfigError> {
        let policy = config.policy()?;
        let namespace = config.namespace.unwrap_or_else(|| client.default_namespace().to_owned());
        if namespace.is_empty() {
            return Err(ConfigError::MissingNamespace);
        }
        let metrics = config.metrics.clone().unwrap_or_default();
        let fence = Fence::closed();
        Ok(LeaderElector {
            policy,
            release_on_stop: config.release_on_stop,
            status: LeaderStatus::new(format!("{namespace}/{}", config.lease_name), fence.clone()),
            fence,
            metrics: ElectionMetrics::new(&metrics, &config.lease_name),
            requests: LeaseRequests::new(client, namespace, config.lease_name, config.labels),
        })
    }

    /// Returns the identity of this process.
    pub fn identity(&self) -> &str {
        &self.policy.identity
    }

    /// Returns the status, for observers and health checks while the elector runs.
    pub fn status(&self) -> LeaderStatus {
        self.status.clone()
    }

    /// Returns a channel with the identity of the last observed leader, as [`LeaderStatus::leader`].
    pub fn leader(&self) -> watch::Receiver<Option<String>> {
        self.status.leader()
    }

    /// Returns an error if the elector is overdue, as [`LeaderStatus::check`].
    ///
    /// # Errors
    /// Fails if the elector made no progress for the lease duration and the tolerance.
    pub fn check(&self, tolerance: Duration) -> Result<(), LeaseOverdue> {
        self.status.check(tolerance)
    }

    /// Acquires the lease, runs the work as the leader, and releases the lease after the work has ended.
    ///
    /// The work receives a token that is cancelled when the leadership must end: on `stop`, and when the lease cannot
    /// be renewed. After `stop` there is no limit for the work, and the lease is renewed while it runs. The elector
    /// returns without an error when the work ends, also by itself, and when it is stopped before it became the leader.
    ///
    /// Dropping the future aborts the work without waiting for it, and does not release the lease.
    ///
    /// # Errors
    /// Fails if the leadership is lost, or if the API server rejects the requests of a candidate for the renew
    /// deadline, for example because a permission is missing. The work has ended, except after
    /// [`WorkStillRuns`](LeaderElectionError::WorkStillRuns). The process should end then: its caches, connections and
    /// tasks can contain state of the lost leadership.
    ///
    /// # Panics
    /// Resumes a panic of the work, after the lease is released if it is not lost.
    pub async fn run<W, F>(self, stop: CancellationToken, work: W) -> Result<(), LeaderElectionError>
    where
        W: FnOnce(CancellationToken) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let _running = self.status.running();
        let mut election = Election::new(self);
        let acquired = tokio::select! {
            biased;
            () = stop.cancelled() => false,
            result = election.acquire() => result.map(|()| true)?,
        };
        if !acquired {
            // The last request may have acquired the lease.
            election.release().await;
            return Ok(());
        }
        match election.lead(&stop, work).await? {
            WorkEnd::Panicked(panic) => {
                election.release().await;
                resume_unwind(panic)
            }
            WorkEnd::Completed | WorkEnd::Dropped => {
                election.release().await;
                Ok(())
            }
        }
    }
}

/// A running election.
struct Election {
    elector: LeaderElector,
    machine: StateMachine,
    epoch: Instant,
    last_error: Option<Error>,
    /// Whether the last request was rejected.
    is_rejected: bool,
    /// Since when all attempts were rejected.
    rejected_since: Option<Instant>,
    /// The time between the first and the last attempt of those.
    rejected_for: Duration,
}

impl Election {
    fn new(elector: LeaderElector) -> Self {
        let machine = StateMachine::new(elector.policy.clone(), fastrand::Rng::new());
        Election {
            elector,
            machine,
            epoch: Instant::now(),
            last_error: None,
            is_rejected: false,
            rejected_since: None,
            rejected_for: Duration::ZERO,
        }
    }

    /// Waits until this process is the leader.
    async fn acquire(&mut self) -> Result<(), LeaderElectionError> {
        tracing::info!(lease = self.lease(), identity = self.elector.identity(), "attempting to acquire the lease");
        while !self.machine.is_leader() {
            self.step().await;
            self.check_rejection()?;
        }
        tracing::info!(lease = self.lease(), identity = self.elector.identity(), "acquired the lease");
        Ok(())
    }

    /// Runs the work until it has ended, and renews the lease meanwhile.
    async fn lead<W, F>(&mut self, stop: &CancellationToken, work: W) -> Result<WorkEnd, LeaderElectionError>
    where
        W: FnOnce(CancellationToken) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let _master = self.elector.metrics.lead();
        let leading = stop.child_token();
        let cancel = leading.clone().drop_guard();
        let mut work = Work::spawn(async move { work(leading).await }, self.elector.fence.clone());
        let ended = {
            let mut lost = pin!(self.renew());
            tokio::select! {
                biased;
                end = work.ended() => Ok(end),
                reason = &mut lost => Err(reason),
            }
        };
        match ended {
            // The deadline passed while the process was paused.
            Ok(WorkEnd::Dropped) => Err(self.lost(LossReason::RenewDeadlineExceeded)),
            Ok(end) => Ok(end),
            Err(reason) => {
                tracing::warn!(lease = self.lease(), ?reason, "leader election lost; ending the leader's work");
                drop(cancel);
                self.end_work(work, reason).await
            }
        }
    }

    /// Renews the lease until the leadership ends.
    async fn renew(&mut self) -> LossReason {
        loop {
            if let Some(Step::Lost(reason)) = self.step().await {
                return reason;
            }
        }
    }

    /// Ends the cancelled work of a lost leadership before another candidate can take over: it is aborted at its
    /// deadline.
    async fn end_work(&mut self, mut work: Work, reason: LossReason) -> Result<WorkEnd, LeaderElectionError> {
        let deadline = self.instant(self.machine.work_deadline());
        let mut end = timeout_at(deadline, work.ended()).await;
        if end.is_err() {
            self.elector.fence.close();
            work.abort();
            end = timeout(ABORT_TIMEOUT, work.ended()).await;
        }
        match end {
            Ok(WorkEnd::Panicked(panic)) => resume_unwind(panic),
            Ok(WorkEnd::Completed | WorkEnd::Dropped) => Err(self.lost(reason)),
            Err(_) => Err(LeaderElectionError::WorkStillRuns { lease: self.lease().to_owned(), reason }),
        }
    }

    fn lost(&mut self, reason: LossReason) -> LeaderElectionError {
        let last_error = self.last_error.take().filter(|_| reason == LossReason::RenewDeadlineExceeded);
        LeaderElectionError::Lost { lease: self.lease().to_owned(), reason, last_error }
    }

    /// Releases the lease if this process holds it. The work has ended.
    async fn release(&mut self) {
        self.elector.fence.close();
        if !self.elector.release_on_stop {
            return;
        }
        self.machine.release(self.now());
        loop {
            match self.step().await {
                None => {}
                Some(Step::Released(true)) => return,
                Some(_) => {
                    let error = self.last_error.take().map(|error| error.to_string());
                    tracing::warn!(lease = self.lease(), error, "could not release the lease; it expires");
                    return;
                }
            }
        }
    }

    /// Executes the next step. Returns the final one.
    async fn step(&mut self) -> Option<Step> {
        match self.machine.next(self.now(), Timestamp::now()) {
            Step::Wait { until } => {
                self.attempt_ended();
                self.set_due(until);
                sleep_until(self.instant(until)).await;
                None
            }
            Step::Send { request, deadline } => {
                self.set_due(deadline);
                let was_get = request == Request::Get;
                let result = self.elector.requests.send(request, self.instant(deadline)).await;
                self.responded(result, was_get);
                None
            }
            end @ (Step::Lost(_) | Step::Released(_)) => Some(end),
        }
    }

    fn responded(&mut self, result: Result<Lease, Error>, was_get: bool) {
        let response = requests::response(&result, was_get);
        self.is_rejected = matches!(response, Response::Failed) && result.as_ref().is_err_and(requests::is_permanent);
        match (&response, result) {
            (Response::NotFound, _) => {}
            (Response::Conflict, Err(error)) => {
                tracing::debug!(lease = self.lease(), %error, "the lease was changed by another client");
                self.last_error = Some(error);
            }
            (_, Err(error)) => {
                tracing::warn!(lease = self.lease(), %error, "leader election request failed; retrying");
                self.last_error = Some(error);
            }
            (_, Ok(_)) if was_get => {}
            (_, Ok(_)) => self.last_error = None,
        }
        self.machine.response(self.now(), response);
        if self.machine.is_leader() {
            self.elector.fence.open_until(self.instant(self.machine.work_deadline()));
        }
        if let Some(holder) = self.machine.holder() {
            self.elector.status.set_leader(holder);
        }
        self.elector.metrics.set_slow_paths(self.machine.slow_paths());
    }

    /// Records since when attempts are rejected. A rejected attempt can start with a successful read.
    fn attempt_ended(&mut self) {
        self.rejected_since = match self.is_rejected {
            true => self.rejected_since.or_else(|| Some(Instant::now())),
            false => None,
        };
        self.rejected_for = self.rejected_since.map(|since| since.elapsed()).unwrap_or_default();
    }

    /// Fails if attempts have been rejected for the renew deadline: permissions that are granted together with the
    /// start of the process are in effect by then.
    fn check_rejection(&mut self) -> Result<(), LeaderElectionError> {
        let waited = self.rejected_for;
        if waited < self.elector.policy.renew_deadline {
            return Ok(());
        }
        match self.last_error.take() {
            Some(error) => Err(LeaderElectionError::Rejected { lease: self.lease().to_owned(), waited, error }),
            None => Ok(()),
        }
    }

    /// Reports by when the next progress is due, for health checks.
    fn set_due(&self, step_end: Time) {
        let is_leader = self.machine.is_leader();
        let due = match is_leader {
            true => self.machine.lease_end(),
            false => step_end + self.elector.policy.lease_duration,
        };
        self.elector.status.set_due(self.instant(due), is_leader);
    }

    fn lease(&self) -> &str {
        self.elector.status.lease()
    }

    fn now(&self) -> Time {
        self.epoch.elapsed()
    }

    fn instant(&self, time: Time) -> Instant {
        self.epoch + time
    }
}

impl fmt::Debug for LeaderElector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderElector")
            .field("lease", &self.status.lease())
            .field("identity", &self.policy.identity)
            .finish_non_exhaustive()
    }
}
