//! The cluster: its nodes and controllers, and the calls that make nodes fail.

mod builder;
mod drain;
mod error;

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use kubewright_runtime::{CancellationToken, Controller, Error, InformerFactory, events::EventWorker};
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinError, JoinSet},
};

pub use builder::{ClusterBuilder, NodeConfig};
pub use error::ClusterError;

use crate::{
    environment::Environment,
    kubelet::{NodeAgent, Power, Runtime},
    node_lifecycle,
};

/// A cluster in one process, on any API server. Clones are handles of the same cluster.
///
/// Guarantees:
/// - it only uses the API: its objects, conditions, reasons and events are the same as in a real cluster, and any
///   client, informer or controller can take part;
/// - with paused tokio time, a rollout or the loss of a zone of minutes takes milliseconds;
/// - each call returns when its effect is written: a node is ready, cordoned or empty, or has lost its power or
///   connection;
/// - the containers of a node that is cut off continue; the containers of a node that is killed end at once, and its
///   pods are restarted when it is restored, unless they were evicted;
/// - all tasks and processes belong to [`run`](Self::run), and have ended when it returns.
#[derive(Clone)]
pub struct Cluster(Arc<Shared>);

struct Shared {
    environment: Environment,
    runtime: Runtime,
    nodes: Mutex<Nodes>,
    /// The kubelets to be started.
    added: mpsc::UnboundedSender<NodeAgent>,
    /// Taken by `run`.
    parts: Mutex<Option<Parts>>,
}

/// What `run` runs.
struct Parts {
    added: mpsc::UnboundedReceiver<NodeAgent>,
    controllers: Vec<Controller>,
    events: EventWorker,
}

#[derive(Default)]
struct Nodes {
    handles: BTreeMap<String, NodeHandle>,
    next_number: u32,
}

#[derive(Clone)]
struct NodeHandle {
    name: String,
    zone: Option<String>,
    power: watch::Sender<Power>,
    reached: watch::Receiver<Option<Power>>,
}

impl Cluster {
    /// Returns the informers of the cluster, for example to wait until a pod is ready.
    pub fn informers(&self) -> &InformerFactory {
        &self.0.environment.factory
    }

    /// Runs the control plane and the nodes until cancelled, and waits until all of their tasks and processes have
    /// ended. The objects remain.
    ///
    /// # Errors
    /// Fails if the cluster was run before, or if a part of it failed; the others are stopped, too.
    pub async fn run(&self, stop: CancellationToken) -> Result<(), ClusterError> {
        let Parts { mut added, controllers, events } = self.0.parts.lock().take().ok_or(ClusterError::AlreadyRun)?;
        let (work, base) = (stop.child_token(), CancellationToken::new());
        let _stop_on_drop = (work.clone().drop_guard(), base.clone().drop_guard());
        let mut services = JoinSet::new();
        let (factory, until) = (self.0.environment.factory.clone(), base.clone());
        services.spawn(async move { factory.run(until).await.map_err(ClusterError::from) });
        let until = base.clone();
        services.spawn(async move {
            // Events that cannot be written are logged.
            drop(events.run(until).await);
            Ok(())
        });
        let mut tasks = JoinSet::new();
        for controller in controllers {
            let until = work.clone();
            tasks.spawn(async move { controller.run(until).await.map_err(ClusterError::from) });
        }
        let (environment, until) = (self.0.environment.clone(), work.clone());
        tasks.spawn(async move {
            // A request that is in progress ends with it, also if the server does not respond.
            tokio::select! {
                () = until.cancelled() => {}
                () = node_lifecycle::run(&environment) => {}
            }
            Ok(())
        });
        let result = loop {
            tokio::select! {
                biased;
                () = work.cancelled() => break Ok(()),
                Some(ended) = tasks.join_next() => if let Err(error) = flatten(ended) { break Err(error) },
                Some(ended) = services.join_next() => if let Err(error) = flatten(ended) { break Err(error) },
                Some(agent) = added.recv() => {
                    let until = work.clone();
                    tasks.spawn(async move {
                        agent.run(until).await;
                        Ok(())
                    });
                }
            }
        };
        drop(added);
        work.cancel();
        // The informers stop last: a controller reports an informer that stops before it as a failure.
        let result = result.and(join(&mut tasks).await);
        base.cancel();
        result.and(join(&mut services).await)
    }

    /// Adds a node, and waits until it is ready.
    ///
    /// # Errors
    /// Fails if there is a node of this name, or the cluster does not run.
    pub async fn add_node(&self, config: NodeConfig) -> Result<(), ClusterError> {
        let handle = self.insert(config)?;
        handle.reach(Power::On).await
    }

    /// Adds a node that is started by `run`.
    fn insert(&self, config: NodeConfig) -> Result<NodeHandle, ClusterError> {
        let mut nodes = self.0.nodes.lock();
        if nodes.handles.contains_key(config.name()) {
            return Err(ClusterError::DuplicateNode { node: config.name().to_owned() });
        }
        let number = nodes.next_number;
        nodes.next_number += 1;
        let (power, receiver) = watch::channel(Power::On);
        let (sender, reached) = watch::channel(None);
        let runtime = config.runtime_or(&self.0.runtime);
        let agent = NodeAgent::new(config.template(), number, runtime, &self.0.environment, receiver, sender);
        self.0.added.send(agent).map_err(|_| ClusterError::NotRunning)?;
        let (name, zone) = (config.name().to_owned(), config.zone_name().map(str::to_owned));
        let handle = NodeHandle { name: name.clone(), zone, power, reached };
        nodes.handles.insert(name, handle.clone());
        Ok(handle)
    }

    /// Marks a node as unschedulable. Its pods remain.
    ///
    /// # Errors
    /// Fails if the node does not exist or the request fails.
    pub async fn cordon(&self, node: &str) -> Result<(), ClusterError> {
        self.set_unschedulable(node, true).await
    }

    /// Marks a node as schedulable.
    ///
    /// # Errors
    /// Fails if the node does not exist or the request fails.
    pub async fn uncordon(&self, node: &str) -> Result<(), ClusterError> {
        self.set_unschedulable(node, false).await
    }

    async fn set_unschedulable(&self, node: &str, value: bool) -> Result<(), ClusterError> {
        let api: Api<Node> = Api::all(self.0.environment.client.clone());
        // As kubectl does, `false` is an absent field.
        let patch = Patch::Merge(json!({"spec": {"unschedulable": value.then_some(true)}}));
        let patched = api.patch(node, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(|error| Error::new("patch", "nodes", node, error).into())
    }

    /// Cuts a node off from the API server: its heartbeats stop, and its containers continue. Returns when no request
    /// of its kubelet is sent anymore; the cluster reacts after the usual time.
    ///
    /// # Errors
    /// Fails if the node does not exist, another call switches it, or the cluster does not run.
    pub async fn cut_off(&self, node: &str) -> Result<(), ClusterError> {
        self.node(node)?.reach(Power::CutOff).await
    }

    /// Switches a node off. Returns when its containers have ended; the cluster reacts after the usual time.
    ///
    /// # Errors
    /// Fails if the node does not exist, another call switches it, or the cluster does not run.
    pub async fn kill_node(&self, node: &str) -> Result<(), ClusterError> {
        self.node(node)?.reach(Power::Off).await
    }

    /// Connects a node again, or switches it on. Returns when it is ready.
    ///
    /// # Errors
    /// Fails if the node does not exist, another call switches it, or the cluster does not run.
    pub async fn restore(&self, node: &str) -> Result<(), ClusterError> {
        self.node(node)?.reach(Power::On).await
    }

    /// Switches all nodes of a zone off.
    ///
    /// # Errors
    /// Fails if the zone has no nodes, another call switches one of them, or the cluster does not run.
    pub async fn kill_zone(&self, zone: &str) -> Result<(), ClusterError> {
        self.switch_zone(zone, Power::Off).await
    }

    /// Cuts all nodes of a zone off from the API server.
    ///
    /// # Errors
    /// Fails if the zone has no nodes, another call switches one of them, or the cluster does not run.
    pub async fn cut_off_zone(&self, zone: &str) -> Result<(), ClusterError> {
        self.switch_zone(zone, Power::CutOff).await
    }

    /// Restores all nodes of a zone.
    ///
    /// # Errors
    /// Fails if the zone has no nodes, another call switches one of them, or the cluster does not run.
    pub async fn restore_zone(&self, zone: &str) -> Result<(), ClusterError> {
        self.switch_zone(zone, Power::On).await
    }

    async fn switch_zone(&self, zone: &str, power: Power) -> Result<(), ClusterError> {
        let is_inside = |handle: &&NodeHandle| handle.zone.as_deref() == Some(zone);
        let handles: Vec<_> = self.0.nodes.lock().handles.values().filter(is_inside).cloned().collect();
        if handles.is_empty() {
            return Err(ClusterError::UnknownZone { zone: zone.to_owned() });
        }
        try_join_all(handles.into_iter().map(|handle| handle.reach(power))).await.map(drop)
    }

    fn node(&self, name: &str) -> Result<NodeHandle, ClusterError> {
        let handle = self.0.nodes.lock().handles.get(name).cloned();
        handle.ok_or_else(|| ClusterError::UnknownNode { node: name.to_owned() })
    }
}

impl NodeHandle {
    /// Switches the node, and waits until that is done, or until another call switches it.
    async fn reach(mut self, power: Power) -> Result<(), ClusterError> {
        if self.reached.has_changed().is_err() {
            return Err(ClusterError::NotRunning);
        }
        let mut switched = self.power.subscribe();
        self.power.send_replace(power);
        tokio::select! {
            biased;
            reached = self.reached.wait_for(|reached| *reached == Some(power)) => {
                reached.map(drop).map_err(|_| ClusterError::NotRunning)
            }
            _ = switched.wait_for(|switched| *switched != power) => Err(ClusterError::Superseded { node: self.name }),
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<_> = self.0.nodes.lock().handles.keys().cloned().collect();
        f.debug_struct("Cluster").field("nodes", &nodes).finish_non_exhaustive()
    }
}

/// Waits for all tasks. Returns the first error.
async fn join(tasks: &mut JoinSet<Result<(), ClusterError>>) -> Result<(), ClusterError> {
    let mut result = Ok(());
    while let Some(ended) = tasks.join_next().await {
        result = result.and(flatten(ended));
    }
    result
}

fn flatten(ended: Result<Result<(), ClusterError>, JoinError>) -> Result<(), ClusterError> {
    ended.unwrap_or_else(|error| Err(ClusterError::Panicked(error)))
}
