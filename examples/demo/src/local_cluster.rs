//! A cluster on this machine: an API server on a loopback address, nodes in zones, the operator in this process, and
//! agents as local processes that write files.

mod api_server;
mod config;
mod error;
mod segments;
mod task;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use kubewright_apiserver::serve::Tls;
use kubewright_manager::{Manager, ManagerError};
use kubewright_runtime::{
    kube::{Client, Config},
    metrics::Metrics,
};
use kubewright_simulator::{Cluster, ClusterError, Processes, Runtime};
use logger_operator::{OperatorOptions, operator};
use tokio::time::{Instant, timeout_at};

pub use config::{AGENT_IMAGE, LocalClusterConfig};
pub use error::LocalClusterError;

use crate::definition;
use task::Task;

/// How long nodes can take to become ready.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a data directory can be in use by the connections of a server that was stopped.
const REOPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// A cluster on this machine.
///
/// Guarantees:
/// - it is used as a real one: the operator, the nodes and all clients reach the API server on a socket, at
///   [`address`](Self::address), with the file [`kubeconfig`](Self::kubeconfig). Requests without the certificate in
///   that file are rejected, and only its owner can read it;
/// - when it has started, the kind `Logger` is served, every node is ready, and the operator runs;
/// - agents are processes of the program [`LocalClusterConfig::agent`], which write real files below
///   [`directory`](Self::directory). The files of a Pod remain until its node removes the Pod, so that those on a
///   killed node remain until it is restored;
/// - no acknowledged write to the API server is lost when it is [restarted](Self::restart_server);
/// - after [`stop`](Self::stop), no task and no process of the cluster remains. Dropping it aborts its tasks, which
///   kills the processes.
pub struct LocalCluster {
    directory: PathBuf,
    address: SocketAddr,
    tls: Tls,
    kubeconfig: PathBuf,
    config: Config,
    client: Client,
    operator_options: OperatorOptions,
    nodes: Cluster,
    // Dropped in this order.
    operator: Option<Task<Result<(), ManagerError>>>,
    running_nodes: Task<Result<(), ClusterError>>,
    server: Option<Task<()>>,
}

impl LocalCluster {
    /// Starts the API server, the nodes and the operator. Returns when all nodes are ready.
    ///
    /// # Errors
    /// Fails if the agent is not a file, the directory cannot be used, or a part does not start. Nothing runs then.
    pub async fn start(config: LocalClusterConfig) -> Result<Self, LocalClusterError> {
        let LocalClusterConfig { agent, directory, zones, operator, node_monitor_grace_period } = config;
        let agent = config::program(&agent)?;
        let directory = config::create_directory(&directory)?;
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = api_server::open(&data_directory(&directory), Duration::ZERO).await?;
        let (listener, address) = api_server::listen(any_port).await?;
        let kubeconfig = directory.join("kubeconfig");
        let tls = api_server::issue(&kubeconfig, address)?;
        let server = api_server::serve(server, listener, tls.clone());
        let config = api_server::client_config(&kubeconfig).await?;
        let client = client(&config, true)?;
        definition::apply(&client).await?;
        let runtime = Processes::new(nodes_directory(&directory)).program(operator.agent_image.as_str(), [agent]);
        // Drains retry rejected evictions themselves.
        let mut builder = Cluster::builder(self::client(&config, false)?)
            .runtime(Runtime::Processes(runtime))
            .node_monitor_grace_period(node_monitor_grace_period);
        for (zone, count) in &zones {
            builder = builder.zone(zone, *count);
        }
        let nodes = builder.build()?;
        let control_plane = nodes.clone();
        let running_nodes = Task::spawn(|stop| async move { control_plane.run(stop).await });
        let mut cluster = LocalCluster {
            directory,
            address,
            tls,
            kubeconfig,
            config,
            client,
            operator_options: operator,
            nodes,
            operator: None,
            running_nodes,
            server: Some(server),
        };
        cluster.wait_for_nodes(&zones).await?;
        cluster.start_operator()?;
        Ok(cluster)
    }

    async fn wait_for_nodes(&self, zones: &[(String, usize)]) -> Result<(), LocalClusterError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let names = zones.iter().flat_map(|(zone, count)| (1..=*count).map(move |number| format!("{zone}-{number}")));
        for node in names {
            match timeout_at(deadline, self.nodes.restore(&node)).await {
                Ok(ready) => ready?,
                Err(_) => return Err(LocalClusterError::NodeNotReady { node, timeout: START_TIMEOUT }),
            }
        }
        Ok(())
    }

    /// Returns a client of the API server.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the nodes, which can be drained, killed, cut off and restored. They are named after their zones, such as
    /// `zone-a-1`.
    #[must_use]
    pub fn nodes(&self) -> &Cluster {
        &self.nodes
    }

    /// Returns the address of the API server, which serves HTTPS to clients with the certificate of the kubeconfig.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the kubeconfig of the API server, which only its owner can read.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the absolute path of the directory with the files of the agents and the objects of the API server.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directories that contain segments of agents, sorted: those of all nodes, also of killed ones.
    #[must_use]
    pub fn data_directories(&self) -> Vec<PathBuf> {
        segments::directories(&nodes_directory(&self.directory))
    }

    /// Returns the options of the operator, which the next [`start_operator`](Self::start_operator) applies. Images
    /// other than that of the [`LocalClusterConfig`] cannot be pulled.
    #[must_use]
    pub fn operator_options(&mut self) -> &mut OperatorOptions {
        &mut self.operator_options
    }

    /// Starts the operator, unless it runs. Does not wait until its caches are synced.
    ///
    /// # Errors
    /// Fails if the options of the operator are invalid.
    pub fn start_operator(&mut self) -> Result<(), LocalClusterError> {
        if self.operator.is_some() {
            return Ok(());
        }
        let manager = Manager::for_config(self.config.clone()).map_err(LocalClusterError::Client)?;
        let (options, metrics) = (self.operator_options.clone(), Metrics::default());
        let manager = operator().add_to(manager, options, Vec::new(), metrics);
        let manager = manager.map_err(LocalClusterError::Operator)?.build()?;
        self.operator = Some(Task::spawn(|stop| async move { manager.run(stop).await }));
        Ok(())
    }

    /// Stops the operator gracefully: reconciliations are completed. Does nothing without an operator.
    ///
    /// # Errors
    /// Fails if the operator failed, before or while it stopped.
    pub async fn stop_operator(&mut self) -> Result<(), LocalClusterError> {
        match self.operator.take() {
            Some(operator) => Ok(operator.stop().await??),
            None => Ok(()),
        }
    }

    /// Kills the operator: its reconciliations end in the middle, between two requests or during one. Does nothing
    /// without an operator.
    pub async fn kill_operator(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.kill().await;
        }
    }

    /// Stops the API server, and starts it again at the same address with the same objects. Requests in progress are
    /// completed, watches end, and requests in between fail.
    ///
    /// # Errors
    /// Fails if the directory or the address cannot be used again. The cluster has no API server then.
    pub async fn restart_server(&mut self) -> Result<(), LocalClusterError> {
        if let Some(server) = self.server.take() {
            server.stop().await?;
        }
        let server = api_server::open(&data_directory(&self.directory), REOPEN_TIMEOUT).await?;
        let (listener, _) = api_server::listen(self.address).await?;
        self.server = Some(api_server::serve(server, listener, self.tls.clone()));
        Ok(())
    }

    /// Stops the operator gracefully, kills the agents, and stops the nodes and the API server. Returns when all tasks
    /// and processes have ended. The files remain.
    ///
    /// # Errors
    /// Fails if a part failed, before or while it stopped. All others are stopped then.
    pub async fn stop(mut self) -> Result<(), LocalClusterError> {
        let operator = self.stop_operator().await;
        let LocalCluster { running_nodes, server, .. } = self;
        let nodes = running_nodes.stop().await;
        if let Some(server) = server {
            server.stop().await?;
        }
        operator?;
        Ok(nodes??)
    }
}

/// Returns the directory of the objects of the API server.
fn data_directory(directory: &Path) -> PathBuf {
    directory.join("api-server")
}

/// Returns the directory of the logs and volumes of Pods.
fn nodes_directory(directory: &Path) -> PathBuf {
    directory.join("nodes")
}

/// Creates a client, which sends rejected requests again after the time that the server declares if it retries.
fn client(config: &Config, retries: bool) -> Result<Client, LocalClusterError> {
    let mut config = config.clone();
    config.default_retry = retries;
    Client::try_from(config).map_err(LocalClusterError::Client)
}
