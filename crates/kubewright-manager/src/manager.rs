//! The manager: supervised tasks, started and stopped in order, with leader election and health checks.

mod builder;
mod caches;
mod credentials;
mod error;
mod leader;
mod probes;
mod run;
mod runnable;
mod runnables;
mod sharding;
mod signals;
mod starting;
mod tasks;
mod webhook_certificates;

use std::{fmt, sync::Arc, time::Duration};

use kube::Client;
use kubewright_runtime::{
    CancellationToken, LeaderElector,
    leader_election::{LeaderStatus, lease_client},
    retry::client_from_config,
};
use parking_lot::Mutex;

pub use builder::ManagerBuilder;
pub use error::{AddError, BoxError, BuildError, ManagerError};
pub use probes::Probes;
pub use runnable::{AtStage, DescribeFn, Replicas, Runnable, Stage};
pub use webhook_certificates::{WebhookCertificates, WebhookCertificatesError};

use crate::health::HealthChecks;
use caches::Caches;
use probes::RunState;
use run::Run;
use runnable::Registered;
use signals::Signals;

/// Runs what an operator consists of, in one process: informers, controllers, an event recorder, servers.
///
/// Guarantees:
/// - runnables start in the order of their [stages](Stage): servers, webhooks, caches, others, and then those of the
///   leader. A stage starts when the one before it has started, so that caches are synced before controllers run. They
///   stop in the reverse order. The lease is released after those of the leader, and before servers and caches stop;
/// - every task is supervised. One that ends, fails or panics stops the manager, and the error contains its name;
/// - runnables of [`Replicas::Leader`] run only while this process is the leader. If the lease is lost, they are
///   cancelled before another process can take over, and [`run`](Self::run) returns an error;
/// - it ends with an error when credentials expire that its client cannot renew: a certificate of a plugin of the
///   kubeconfig;
/// - with a [sharding](ManagerBuilder::sharding), the replicas share the keys of its controllers. On a stop, its slots
///   are released as their reconciliations end;
/// - on a stop, readiness fails at once. Servers and caches continue for the
///   [shutdown delay](ManagerBuilder::shutdown_delay), as clients can connect until they know. Runnables have the
///   [graceful shutdown timeout](ManagerBuilder::graceful_shutdown_timeout) to end; those that do not are aborted and
///   named in the error;
/// - no task outlives `run`, unless it blocks its thread. The error then contains its name, the lease is not released,
///   and the process must be exited;
/// - a start that fails stops what was started, and is an error with the names and the reasons;
/// - liveness and readiness are those of the running tasks: see [Health](#health);
/// - nothing is process-wide, except for the signal handlers that [`run_until_signal`](Self::run_until_signal)
///   installs.
///
/// # Health
///
/// [`health`](Self::health) has these checks, and those that the program adds:
///
/// | check | endpoint | fails if |
/// |---|---|---|
/// | the name of a runnable | `livez` | its task ended or panicked, a reconciliation is stuck, or a watch is silent |
/// | the name of a runnable | `readyz` | no cache of the manager is synced, or the requests of all have failed for 2 minutes |
/// | the name of a server | `readyz` | it accepts no connections, or its certificate is not valid |
/// | `leaderElection` | `livez` | the elector is overdue by more than 20 s |
/// | `sharding` | `livez` | its runner ended, or is overdue by more than 20 s |
/// | `sharding` | `readyz` | the replica has waited for a Lease of the fleet for 5 minutes |
/// | `startup` | `readyz` | the runnables of [`Replicas::All`] have not started |
/// | `shutdown` | `readyz` | the manager is stopping |
///
/// A manager that [serves webhooks](ManagerBuilder::serve_webhooks) is ready as soon as it serves them: it has no check
/// `startup`, and caches are no condition. They can need its conversion webhook, which only gets requests when it is
/// ready.
///
/// # Example
///
/// ```no_run
/// use kubewright_manager::{Replicas, Manager, LeaderElectionConfig};
/// use kubewright_runtime::{Controller, InformerFactory, leader_election::unique_identity};
///
/// # async fn example(factory: InformerFactory, controller: Controller) -> Result<(), Box<dyn std::error::Error>> {
/// let config = kubewright_runtime::kube::Config::infer().await?;
/// let manager = Manager::for_config(config)?
///     .leader_election(LeaderElectionConfig::new("my-operator", unique_identity()))
///     .add(Replicas::All, "informers", factory)
///     .add(Replicas::Leader, "config-maps", controller)
///     .build()?;
/// manager.run_until_signal().await?;
/// # Ok(())
/// # }
/// ```
pub struct Manager {
    client: Client,
    health: HealthChecks,
    caches: Caches,
    timeouts: Timeouts,
    state: Arc<RunState>,
    election: Option<LeaderStatus>,
    /// Taken when the manager is run.
    plan: Mutex<Option<Plan>>,
}

/// What a manager runs.
struct Plan {
    runnables: Vec<Registered>,
    elector: Option<LeaderElector>,
    health_server: Option<String>,
}

impl Plan {
    /// Returns whether there is a server other than that of the health checks, to which other pods connect.
    fn has_servers(&self) -> bool {
        let is_other = |runnable: &&Registered| Some(&runnable.state.name) != self.health_server.as_ref();
        let servers = self.runnables.iter().filter(|runnable| runnable.stage <= Stage::Webhooks);
        servers.filter(is_other).any(|runnable| !(runnable.describe)().servers.is_empty())
    }
}

#[derive(Clone, Copy, Debug)]
struct Timeouts {
    start: Duration,
    shutdown_delay: Duration,
    graceful_shutdown: Duration,
}

impl Manager {
    /// Returns a builder of a manager. The client is for the Lease, and for runnables that need one.
    ///
    /// An elector needs a client without retries: pass one to [`lease_client`](ManagerBuilder::lease_client), or use
    /// [`for_config`](Self::for_config).
    pub fn builder(client: Client) -> ManagerBuilder {
        ManagerBuilder::new(client)
    }

    /// Returns a builder of a manager with a client for this configuration, and a dedicated one for the Lease.
    ///
    /// # Errors
    /// Fails if kube cannot create a client, for example because a certificate is invalid.
    pub fn for_config(config: kube::Config) -> Result<ManagerBuilder, kube::Error> {
        let lease_client = lease_client(config.clone())?;
        Ok(Self::builder(client_from_config(config)?).lease_client(lease_client))
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the health checks, to respond to probes and to add checks.
    pub fn health(&self) -> &HealthChecks {
        &self.health
    }

    /// Returns the status of leader election; `None` without one.
    pub fn leader_status(&self) -> Option<&LeaderStatus> {
        self.election.as_ref()
    }

    /// Adds a runnable, as [`ManagerBuilder::add`].
    ///
    /// # Errors
    /// Fails if the manager was started, there is a runnable or check of this name, or the name cannot be part of a
    /// URL.
    pub fn add(&self, replicas: Replicas, name: impl Into<String>, runnable: impl Runnable) -> Result<(), AddError> {
        let (mut plan, name) = (self.plan.lock(), name.into());
        let Some(plan) = plan.as_mut() else { return Err(AddError::AlreadyStarted { name }) };
        plan.runnables.push(Registered::new(replicas, name, runnable, &self.health, &self.caches)?);
        Ok(())
    }

    /// Runs until cancelled, and then stops gracefully. A manager runs once.
    ///
    /// Dropping the future aborts all tasks without waiting for them, and does not release the lease. Readiness fails
    /// then.
    ///
    /// # Errors
    /// Fails if a runnable ends, fails or panics, or does not end in time after the stop, if a stage does not start in
    /// time, and if leader election fails. All other runnables have been stopped then. The first error is returned, and
    /// further ones are logged. End the process with an exit code other than 0.
    pub async fn run(&self, stop: CancellationToken) -> Result<(), ManagerError> {
        self.run_until(stop, CancellationToken::new()).await
    }

    /// Runs until the process receives SIGTERM or SIGINT, and then stops gracefully. A second signal ends the graceful
    /// shutdown timeout.
    ///
    /// # Errors
    /// As [`run`](Self::run). Also fails if the signal handlers cannot be installed.
    pub async fn run_until_signal(&self) -> Result<(), ManagerError> {
        let mut signals = Signals::new().map_err(ManagerError::Signals)?;
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        let cancel = async {
            let signal = signals.next().await;
            tracing::info!(signal, "stopping");
            stop.cancel();
            let signal = signals.next().await;
            tracing::warn!(signal, "ending the graceful shutdown timeout");
            abort.cancel();
            std::future::pending().await
        };
        tokio::select! {
            biased;
            result = self.run_until(stop.clone(), abort.clone()) => result,
            never = cancel => never,
        }
    }

    /// Runs until `stop`, and stops gracefully until `abort`.
    async fn run_until(&self, stop: CancellationToken, abort: CancellationToken) -> Result<(), ManagerError> {
        let plan = self.plan.lock().take().ok_or(ManagerError::AlreadyStarted)?;
        let stopping = self.state.start(&stop);
        let _not_ready_on_drop = stopping.clone().drop_guard();
        Run::new(plan, self.timeouts, Arc::clone(&self.state), stopping).run(abort).await
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("timeouts", &self.timeouts)
            .field("state", &self.state)
            .field("election", &self.election)
            .finish_non_exhaustive()
    }
}
