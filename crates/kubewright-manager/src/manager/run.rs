//! A run of a manager: starts the stages, supervises the tasks, and stops them in the reverse order.

use std::{
    future::pending,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use futures::future::join;
use kubewright_runtime::{CancellationToken, LeaderElector, leader_election::LeaderElectionError};
use tokio::{
    task::{JoinError, JoinSet},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    Plan, Timeouts,
    error::ManagerError,
    leader::Leader,
    probes::RunState,
    runnable::{Registered, Replicas, Stage},
    starting::Starting,
    tasks::{Level, TaskEnd, Tasks, panic_of},
};

/// How long aborted tasks can take to end. Those that do not are blocking their thread.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long other tasks can take to end after the lease was lost: the process should end soon.
const LOST_LEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// The name of the elector in errors.
const ELECTION: &str = "leaderElection";

/// A running manager. Dropping it aborts its tasks.
pub(super) struct Run {
    /// Those that have not started.
    runnables: Vec<Registered>,
    elector: Option<LeaderElector>,
    timeouts: Timeouts,
    /// Whether there are servers to which other pods connect.
    has_servers: bool,
    state: Arc<RunState>,
    /// Cancelled when the manager stops.
    stopping: CancellationToken,
    tasks: Tasks,
    stops: Vec<(Level, CancellationToken)>,
    leader: Arc<Leader>,
    election: JoinSet<Result<(), LeaderElectionError>>,
    stop_election: CancellationToken,
    /// The first error of the stop.
    stop_error: Option<ManagerError>,
}

impl Run {
    pub(super) fn new(plan: Plan, timeouts: Timeouts, state: Arc<RunState>, stopping: CancellationToken) -> Self {
        let levels = Stage::ALL.map(Level::Stage).into_iter().chain([Level::Leader]);
        Run {
            has_servers: plan.has_servers(),
            runnables: plan.runnables,
            elector: plan.elector,
            timeouts,
            state,
            stopping,
            tasks: Tasks::default(),
            stops: levels.map(|level| (level, CancellationToken::new())).collect(),
            leader: Arc::default(),
            election: JoinSet::new(),
            stop_election: CancellationToken::new(),
            stop_error: None,
        }
    }

    /// Runs until stopped. The graceful shutdown ends at `abort`.
    pub(super) async fn run(mut self, abort: CancellationToken) -> Result<(), ManagerError> {
        let failure = self.supervise().await.err();
        self.stopping.cancel();
        let grace = match &failure {
            Some(ManagerError::LeaderElection(_)) => self.timeouts.graceful_shutdown.min(LOST_LEASE_TIMEOUT),
            _ => self.timeouts.graceful_shutdown,
        };
        match &failure {
            Some(error) => tracing::error!(%error, "the manager failed and stops"),
            None => tracing::info!("the manager stops"),
        }
        let delay = match failure.is_none() && self.has_servers {
            true => self.timeouts.shutdown_delay,
            false => Duration::ZERO,
        };
        let stopped = self.stop(delay, grace, abort).await;
        let Some(error) = failure else { return stopped };
        if let Err(error) = stopped {
            tracing::error!(%error, "a further error while the manager stopped");
        }
        Err(error)
    }

    /// Starts everything, and runs until the manager is stopped or something fails.
    async fn supervise(&mut self) -> Result<(), ManagerError> {
        for stage in Stage::ALL {
            self.start_stage(stage).await?;
            if self.stopping.is_cancelled() {
                return Ok(());
            }
        }
        self.start_leader();
        self.state.set_started();
        tracing::info!("the manager has started");
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Ok(()),
            error = self.tasks.failure() => Err(error),
            error = self.leader.failed() => Err(error),
            error = election_ended(&mut self.election) => Err(error),
        }
    }

    /// Starts the runnables of a stage, and waits until they have started or the manager is stopped.
    async fn start_stage(&mut self, stage: Stage) -> Result<(), ManagerError> {
        let (level, mut starting) = (Level::Stage(stage), Starting::default());
        let is_of_stage = |runnable: &mut Registered| runnable.replicas == Replicas::All && runnable.stage == stage;
        for mut runnable in self.runnables.extract_if(.., is_of_stage) {
            starting.push(&mut runnable);
            let stop = stop_of(&self.stops, level).clone();
            self.tasks.spawn(level, runnable, stop);
        }
        let started = tokio::select! {
            biased;
            () = self.stopping.cancelled() => return Ok(()),
            error = self.tasks.failure() => return Err(error),
            started = starting.complete_within(self.timeouts.start) => started,
        };
        let not_started = || ManagerError::NotStarted { timeout: self.timeouts.start, reasons: starting.reasons() };
        started.unwrap_or_else(|| Err(not_started()))
    }

    /// Starts the runnables of the leader: when this process becomes the leader, or at once without leader election.
    fn start_leader(&mut self) {
        let runnables = std::mem::take(&mut self.runnables);
        match self.elector.take() {
            Some(elector) => {
                let leader = Arc::clone(&self.leader);
                let work = move |leading| leader.lead(leading, runnables);
                self.election.spawn(elector.run(self.stop_election.clone(), work));
            }
            None => {
                for runnable in runnables {
                    let stop = stop_of(&self.stops, Level::Leader).clone();
                    self.tasks.spawn(Level::Leader, runnable, stop);
                }
            }
        }
    }

    /// Stops the tasks level by level, and then the election.
    async fn stop(&mut self, delay: Duration, grace: Duration, abort: CancellationToken) -> Result<(), ManagerError> {
        let (aborted, blocked) = self.stop_tasks(delay, grace, &abort).await;
        match self.leader.names().is_empty() {
            true => self.stop_election(&abort).await,
            // The work of the leader is not over, so the lease must expire.
            false => self.election.shutdown().await,
        }
        let failure = self.leader.take_failure();
        failure.into_iter().for_each(|error| self.record(error));
        match (aborted.is_empty() && blocked.is_empty(), self.stop_error.take()) {
            (true, error) => error.map_or(Ok(()), Err),
            (false, error) => {
                if let Some(error) = error {
                    tracing::error!(%error, "a further error while the manager stopped");
                }
                Err(ManagerError::NotStopped { timeout: grace, aborted, blocked })
            }
        }
    }

    /// Stops the tasks of the leader and then those of the stages, in the reverse order of their start. Returns the
    /// names of those that were aborted at the deadline, and of those that still run.
    async fn stop_tasks(
        &mut self,
        delay: Duration,
        grace: Duration,
        abort: &CancellationToken,
    ) -> (Vec<String>, Vec<String>) {
        let delayed = Instant::now() + delay;
        let mut deadline = pin!(async {
            tokio::select! {
                () = sleep(grace) => {}
                () = abort.cancelled() => {}
            }
        });
        self.leader.stop.cancel();
        let mut is_in_time = tokio::select! {
            biased;
            () = self.leader.ended() => true,
            () = &mut deadline => false,
        };
        for (level, stop) in self.stops.clone().into_iter().rev() {
            if level == Level::Stage(Stage::Caches) && is_in_time && !delay.is_zero() {
                is_in_time = self.continue_serving(delayed, abort, deadline.as_mut()).await;
            }
            stop.cancel();
            is_in_time = is_in_time && self.join(level, deadline.as_mut()).await;
        }
        match is_in_time {
            true => (Vec::new(), Vec::new()),
            false => self.abort().await,
        }
    }

    /// Waits while servers and their caches continue, and releases the lease. Returns whether the time was not over.
    async fn continue_serving(
        &mut self,
        until: Instant,
        abort: &CancellationToken,
        deadline: Pin<&mut impl Future<Output = ()>>,
    ) -> bool {
        let released = async {
            if self.leader.names().is_empty() {
                self.stop_election(abort).await;
            }
        };
        tokio::select! {
            biased;
            () = deadline => false,
            _ = join(released, sleep_until(until)) => true,
        }
    }

    /// Waits until the tasks of a level have ended. Returns whether they did before the deadline.
    async fn join(&mut self, level: Level, mut deadline: Pin<&mut impl Future<Output = ()>>) -> bool {
        while self.tasks.has(level) {
            let end = tokio::select! {
                biased;
                end = self.tasks.next() => end,
                () = &mut deadline => return false,
            };
            end.into_iter().for_each(|end| self.task_ended(end));
        }
        true
    }

    /// Aborts all tasks.
    async fn abort(&mut self) -> (Vec<String>, Vec<String>) {
        let mut aborted = self.running();
        self.tasks.abort_all();
        self.leader.abort.cancel();
        let leader = Arc::clone(&self.leader);
        let tasks = async {
            while let Some(end) = self.tasks.next().await {
                self.task_ended(end);
            }
        };
        if timeout(ABORT_TIMEOUT, join(leader.ended(), tasks)).await.is_ok() {
            return (aborted, Vec::new());
        }
        let blocked = self.running();
        aborted.retain(|name| !blocked.contains(name));
        (aborted, blocked)
    }

    /// Returns the names of the tasks that have not ended, sorted.
    fn running(&self) -> Vec<String> {
        let mut names = self.tasks.names();
        names.append(&mut self.leader.names());
        names.sort();
        names
    }

    fn task_ended(&mut self, end: TaskEnd) {
        let error = match stop_of(&self.stops, end.level).is_cancelled() {
            true => end.after_stop(),
            false => end.unexpected(),
        };
        error.into_iter().for_each(|error| self.record(error));
    }

    /// Stores the first error of the stop, and logs others.
    fn record(&mut self, error: ManagerError) {
        match &self.stop_error {
            Some(_) => tracing::error!(%error, "a further error while the manager stopped"),
            None => self.stop_error = Some(error),
        }
    }

    /// Stops the elector, which releases the lease.
    async fn stop_election(&mut self, abort: &CancellationToken) {
        self.stop_election.cancel();
        let result = tokio::select! {
            biased;
            result = self.election.join_next() => result,
            () = abort.cancelled() => None,
        };
        self.election.shutdown().await;
        if let Some(error) = result.and_then(election_error) {
            self.record(error);
        }
    }
}

fn stop_of(stops: &[(Level, CancellationToken)], level: Level) -> &CancellationToken {
    let stop = stops.iter().find(|(other, _)| *other == level);
    &stop.expect("there is a token for each level").1
}

/// Waits until the elector ends although it was not stopped. Waits forever without one.
async fn election_ended(election: &mut JoinSet<Result<(), LeaderElectionError>>) -> ManagerError {
    match election.join_next().await {
        Some(result) => election_error(result).unwrap_or_else(|| ManagerError::Ended { name: ELECTION.to_owned() }),
        None => pending().await,
    }
}

fn election_error(result: Result<Result<(), LeaderElectionError>, JoinError>) -> Option<ManagerError> {
    match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.into()),
        Err(error) => {
            let message = panic_of(error)?;
            Some(ManagerError::Panicked { name: ELECTION.to_owned(), message })
        }
    }
}
