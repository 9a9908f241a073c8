//! The builder of a manager: runnables, leader election, timeouts and metrics.

use std::{fmt, sync::Arc, time::Duration};

use kube::Client;
use kubewright_core::description::{OperatorDescription, Permission};
use kubewright_runtime::{CancellationToken, LeaderElectionConfig, LeaderElector, Sharding, metrics::Metrics};
use parking_lot::Mutex;

use super::{
    Manager, Plan, Timeouts,
    caches::Caches,
    credentials::{self, CREDENTIALS},
    error::BuildError,
    probes::RunState,
    runnable::{Registered, Replicas, Runnable},
    runnables::WebhookServer,
    sharding::{SHARDING, Sharded},
};
use crate::{
    health::HealthChecks,
    serving::{Certificates, MetricsHandler, Router, Server, ServerConfig},
    webhooks::Webhooks,
};

/// The default of controller-runtime for caches.
const START_TIMEOUT: Duration = Duration::from_mins(2);
/// The time until the endpoints of a Service, and the proxies of all nodes, no longer have a pod that stops.
const SHUTDOWN_DELAY: Duration = Duration::from_secs(5);
/// The default of controller-runtime.
const GRACEFUL_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an elector can be overdue before the process is not live, as in controller-runtime.
const ELECTION_TOLERANCE: Duration = Duration::from_secs(20);
/// The name of the check, as in controller-runtime.
const ELECTION_CHECK: &str = "leaderElection";

/// Builds a [`Manager`].
#[must_use = "a manager does nothing until it is built and run"]
pub struct ManagerBuilder {
    client: Client,
    lease_client: Option<Client>,
    election: Option<LeaderElectionConfig>,
    sharding: Option<Sharding>,
    health: HealthChecks,
    caches: Caches,
    /// The name of the server of the health checks.
    health_server: Option<String>,
    timeouts: Timeouts,
    runnables: Vec<Registered>,
    /// The first error of an addition.
    error: Option<BuildError>,
}

impl ManagerBuilder {
    pub(super) fn new(client: Client) -> Self {
        ManagerBuilder {
            client,
            lease_client: None,
            election: None,
            sharding: None,
            health: HealthChecks::new(),
            caches: Caches::default(),
            health_server: None,
            timeouts: Timeouts {
                start: START_TIMEOUT,
                shutdown_delay: SHUTDOWN_DELAY,
                graceful_shutdown: GRACEFUL_SHUTDOWN_TIMEOUT,
            },
            runnables: Vec::new(),
            error: None,
        }
    }

    /// Adds a runnable: a controller, an informer factory, an event worker, or a function. `replicas` decides whether
    /// it runs in every process or in the leader only.
    ///
    /// The name is that of its health checks and in errors. It must be unique and consist of letters, digits, `-`, `_`
    /// and `.`; [`build`](Self::build) fails otherwise.
    pub fn add(mut self, replicas: Replicas, name: impl Into<String>, runnable: impl Runnable) -> Self {
        match Registered::new(replicas, name.into(), runnable, &self.health, &self.caches) {
            Ok(registered) => self.runnables.push(registered),
            Err(error) => self.set_error(error),
        }
        self
    }

    /// Serves the health checks as `/livez`, `/readyz` and `/healthz`. The port is in use from this call on.
    pub fn serve_health(mut self, config: ServerConfig) -> Self {
        let router = Router::new().health(&self.health);
        self.health_server = Some(config.name().to_owned());
        self.serve(config, router)
    }

    /// Serves the metrics as `/metrics`, without authentication. The port is in use from this call on.
    ///
    /// To require a token, add a [`Server`] with an [`Authenticator`](crate::serving::Authenticator).
    pub fn serve_metrics(self, config: ServerConfig, metrics: Metrics) -> Self {
        self.serve(config, Router::new().get("/metrics", MetricsHandler::from(metrics)))
    }

    /// Serves webhooks over HTTPS, in every process: the API server connects to any replica. The port is in use from
    /// this call on; that of kubebuilder's Services is 9443.
    ///
    /// The webhooks start before the caches, which can need them to convert objects, and stop after them. For the same
    /// reason the process is ready while caches sync: a webhook that reads an informer waits for its sync. Their
    /// configurations are rendered from the [description](Self::describe). With a
    /// [`client_ca`](ServerConfig::client_ca), admission reviews need the certificate of a client.
    pub fn serve_webhooks(mut self, config: ServerConfig, certificates: Certificates, webhooks: &Webhooks) -> Self {
        let router = match config.has_client_ca() {
            true => webhooks.clone().require_client_certificate().router(),
            false => webhooks.router(),
        };
        let router = router.map_err(BuildError::from);
        match router.and_then(|router| Ok(Server::bind(config, router)?)) {
            Ok(server) => {
                let name = server.name().to_owned();
                self.caches.set_webhooks();
                self.add(Replicas::All, name, WebhookServer::new(server.tls(certificates), webhooks.describe()))
            }
            Err(error) => {
                self.set_error(error);
                self
            }
        }
    }

    /// Adds a server in every process, under its own name. Its requests have no body.
    fn serve(mut self, config: ServerConfig, router: Router) -> Self {
        match Server::bind(config.max_body_size(0), router) {
            Ok(server) => {
                let name = server.name().to_owned();
                self.add(Replicas::All, name, server)
            }
            Err(error) => {
                self.set_error(error);
                self
            }
        }
    }

    fn set_error(&mut self, error: impl Into<BuildError>) {
        self.error.get_or_insert_with(|| error.into());
    }

    /// Runs the runnables of [`Replicas::Leader`] only while this process is the leader. Without this, they run in
    /// every process, so there must be one process only.
    pub fn leader_election(mut self, config: LeaderElectionConfig) -> Self {
        self.election = Some(config);
        self
    }

    /// Shares the keys of controllers with the managers of other processes. Add the sharded controllers and informers
    /// in [`Replicas::All`].
    ///
    /// A manager has one sharding, and its health checks have the name `sharding`.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright_manager::{Replicas, LeaderElectionConfig, ManagerBuilder};
    /// use kubewright_runtime::{
    ///     Controller, InformerFactory, ObjectKey, ReconcileError, Sharding, leader_election::unique_identity,
    /// };
    ///
    /// fn add_config_maps(builder: ManagerBuilder) -> ManagerBuilder {
    ///     let sharding = Sharding::by_namespace(LeaderElectionConfig::new("config-maps", unique_identity()));
    ///     let shared = sharding.clone();
    ///     let factory = InformerFactory::builder(builder.client().clone())
    ///         .defaults(move |config| config.reflector(|reflector| reflector.sharding(&shared)))
    ///         .build();
    ///     let controller = Controller::new("config-maps", &factory.informer::<ConfigMap>())
    ///         .build(|_: ObjectKey| async { Ok::<_, ReconcileError>(()) });
    ///     builder
    ///         .sharding(&sharding)
    ///         .add(Replicas::All, "informers", factory)
    ///         .add(Replicas::All, "config-maps", controller)
    /// }
    /// ```
    pub fn sharding(mut self, sharding: &Sharding) -> Self {
        self.sharding = Some(sharding.clone());
        self
    }

    /// Sets the client of the elector and of the sharding, which should have no retries: one from
    /// [`lease_client`](kubewright_runtime::leader_election::lease_client). By default it is that of the manager; each
    /// request for a Lease has a timeout in any case.
    pub fn lease_client(mut self, client: Client) -> Self {
        self.lease_client = Some(client);
        self
    }

    /// Sets how long all runnables together can take to end after a stop; 30 seconds by default. With
    /// [`Duration::ZERO`] they are aborted at once, and with [`Duration::MAX`] there is no limit. Use less than the
    /// `terminationGracePeriodSeconds` of the pod, and for controllers a shorter
    /// [timeout](kubewright_runtime::controller::ControllerBuilder::graceful_shutdown_timeout) than here.
    pub fn graceful_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.graceful_shutdown = timeout;
        self
    }

    /// Sets how long servers accept connections after a stop, with caches and while readiness fails; 5 seconds by
    /// default. Clients connect until they know that the pod is not ready anymore. Other runnables stop at once, and
    /// the lease is released. It is a part of the graceful shutdown timeout, and ends with a second signal. A manager
    /// without servers other than that of the health checks has no delay, nor has one that stops after a failure.
    pub fn shutdown_delay(mut self, delay: Duration) -> Self {
        self.timeouts.shutdown_delay = delay;
        self
    }

    /// Sets how long a stage can take to start, such as informers to sync; 2 minutes by default. The time restarts
    /// while lists receive objects.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.start = timeout;
        self
    }

    /// Sets where the metrics of the health checks are collected; nowhere by default.
    pub fn metrics(self, metrics: Metrics) -> Self {
        self.health.set_metrics(metrics);
        self
    }

    /// Returns the health checks, for a server and to add checks.
    pub fn health(&self) -> &HealthChecks {
        &self.health
    }

    /// Returns the client, for runnables.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Builds the manager. It does nothing until it is [run](Manager::run).
    ///
    /// # Errors
    /// Fails if a runnable cannot be added, a server cannot listen, or the options of leader election are invalid.
    pub fn build(mut self) -> Result<Manager, BuildError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let state = Arc::<RunState>::default();
        state.add_checks(&self.health, self.caches.are_required())?;
        self.add_sharding(&state)?;
        self.add_credentials()?;
        let elector = self.elector()?;
        let election = elector.as_ref().map(LeaderElector::status);
        if let Some(status) = election.clone() {
            self.health.add_live(ELECTION_CHECK, move || status.check(ELECTION_TOLERANCE))?;
        }
        let ManagerBuilder { client, health, caches, health_server, timeouts, runnables, .. } = self;
        let plan = Mutex::new(Some(Plan { runnables, elector, health_server }));
        Ok(Manager { client, health, caches, timeouts, state, election, plan })
    }

    /// Describes the manager instead of building it: what its runnables need from a cluster, its Lease and its ports.
    ///
    /// The description does not depend on a cluster. Create servers with
    /// [`describes_only`](ServerConfig::describes_only), so that no port is used.
    ///
    /// # Errors
    /// As [`build`](Self::build), so that nothing is missing from the description.
    pub fn describe(self) -> Result<OperatorDescription, BuildError> {
        let lease = self.election.as_ref().map(|election| election.lease_name().to_owned());
        let graceful_shutdown = self.timeouts.graceful_shutdown;
        let manager = self.build()?;
        let mut description = OperatorDescription::default();
        for runnable in manager.plan.lock().iter().flat_map(|plan| &plan.runnables) {
            description.merge((runnable.describe)());
        }
        description.permissions.extend(lease.iter().flat_map(|lease| Permission::leader_election(lease)));
        description.lease = lease;
        description.graceful_shutdown_seconds =
            (graceful_shutdown != Duration::MAX).then_some(graceful_shutdown.as_secs());
        Ok(description)
    }

    fn elector(&mut self) -> Result<Option<LeaderElector>, BuildError> {
        let Some(config) = self.election.take() else { return Ok(None) };
        Ok(Some(LeaderElector::new(self.client_of_leases(), config)?))
    }

    /// Adds the runner of the sharding to the runnables.
    fn add_sharding(&mut self, state: &Arc<RunState>) -> Result<(), BuildError> {
        let Some(sharding) = self.sharding.take() else { return Ok(()) };
        let runner = sharding.runner(self.client_of_leases())?;
        let sharded = Sharded { sharding, runner, state: Arc::clone(state) };
        self.runnables.push(Registered::new(Replicas::All, SHARDING.to_owned(), sharded, &self.health, &self.caches)?);
        Ok(())
    }

    /// Adds a runnable that fails when credentials of the client expire that it cannot renew.
    fn add_credentials(&mut self) -> Result<(), BuildError> {
        let Some(valid_until) = *self.client.valid_until() else { return Ok(()) };
        let wait = move |stop: CancellationToken| credentials::wait(valid_until, stop);
        self.runnables.push(Registered::new(Replicas::All, CREDENTIALS.to_owned(), wait, &self.health, &self.caches)?);
        Ok(())
    }

    fn client_of_leases(&self) -> Client {
        self.lease_client.clone().unwrap_or_else(|| self.client.clone())
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.runnables.iter().map(|runnable| runnable.state.name.as_str()).collect();
        f.debug_struct("ManagerBuilder")
            .field("runnables", &names)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
