//! The configuration of a cluster and of its nodes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::{Node, Taint},
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{Client, ResourceExt};
use kubewright_runtime::{EventRecorder, InformerFactory, events::EventConfig};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{Cluster, ClusterError, Nodes, Parts, Shared};
use crate::{
    controllers,
    environment::Environment,
    kubelet::{Runtime, template},
    model::{clock::Clock, nodes::GracePeriod},
    scheduler,
};

/// The resources of a node by default.
const CAPACITY: [(&str, &str); 4] = [("cpu", "8"), ("memory", "32Gi"), ("ephemeral-storage", "100Gi"), ("pods", "110")];

/// A node of a cluster.
///
/// ```
/// use kubewright_simulator::NodeConfig;
///
/// let node = NodeConfig::new("worker-1").zone("zone-a").label("disk", "ssd").capacity("cpu", "2");
/// # drop(node);
/// ```
#[derive(Clone, Debug)]
pub struct NodeConfig {
    name: String,
    zone: Option<String>,
    labels: BTreeMap<String, String>,
    taints: Vec<Taint>,
    capacity: BTreeMap<String, Quantity>,
    runtime: Option<Runtime>,
}

impl NodeConfig {
    /// Creates a node with 8 CPUs, 32 GiB of memory and up to 110 pods.
    pub fn new(name: impl Into<String>) -> Self {
        let capacity = CAPACITY.map(|(resource, quantity)| (resource.to_owned(), Quantity(quantity.to_owned())));
        NodeConfig {
            name: name.into(),
            zone: None,
            labels: BTreeMap::new(),
            taints: Vec::new(),
            capacity: BTreeMap::from(capacity),
            runtime: None,
        }
    }

    /// Sets the zone, the label `topology.kubernetes.io/zone`.
    #[must_use]
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Adds a taint, such as `NoSchedule` as its effect.
    #[must_use]
    pub fn taint(mut self, key: impl Into<String>, value: impl Into<String>, effect: impl Into<String>) -> Self {
        let value = Some(value.into()).filter(|value| !value.is_empty());
        self.taints.push(Taint { key: key.into(), value, effect: effect.into(), time_added: None });
        self
    }

    /// Sets the capacity of a resource, which pods can request in full.
    #[must_use]
    pub fn capacity(mut self, resource: impl Into<String>, quantity: impl Into<String>) -> Self {
        self.capacity.insert(resource.into(), Quantity(quantity.into()));
        self
    }

    /// Sets how containers run on this node, instead of the default of the cluster.
    #[must_use]
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = Some(runtime);
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn zone_name(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    pub(super) fn runtime_or(&self, default: &Runtime) -> Runtime {
        self.runtime.clone().unwrap_or_else(|| default.clone())
    }

    /// Returns the object of the node.
    pub(super) fn template(&self) -> Node {
        let mut node = template(&self.name, self.zone.as_deref(), self.taints.clone());
        node.labels_mut().extend(self.labels.clone());
        node.status.get_or_insert_default().capacity = Some(self.capacity.clone());
        node
    }
}

/// Builds a cluster.
#[derive(Debug)]
#[must_use = "a cluster does nothing until it is built and run"]
pub struct ClusterBuilder {
    client: ClientOf,
    runtime: Runtime,
    nodes: Vec<NodeConfig>,
    grace_period: GracePeriod,
}

/// A client, which has no `Debug` representation.
struct ClientOf(Client);

impl std::fmt::Debug for ClientOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

impl Cluster {
    /// Returns a builder of a cluster on the API server of this client. The client must have all permissions, and
    /// should not retry by itself (`default_retry` of its configuration): [`drain`](Cluster::drain) reports why an
    /// eviction was rejected, and retries it.
    pub fn builder(client: Client) -> ClusterBuilder {
        ClusterBuilder {
            client: ClientOf(client),
            runtime: Runtime::default(),
            nodes: Vec::new(),
            grace_period: GracePeriod::default(),
        }
    }
}

impl ClusterBuilder {
    /// Adds a zone with this number of nodes, which are named after it: `zone-a-1`, `zone-a-2`.
    pub fn zone(mut self, zone: &str, nodes: usize) -> Self {
        self.nodes.extend((1..=nodes).map(|number| NodeConfig::new(format!("{zone}-{number}")).zone(zone)));
        self
    }

    /// Adds a node.
    pub fn node(mut self, node: NodeConfig) -> Self {
        self.nodes.push(node);
        self
    }

    /// Sets how containers run on nodes without another runtime; simulated by default.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Sets how long a node can be silent until it is marked as not ready, as the flag
    /// `--node-monitor-grace-period` of kube-controller-manager: 50 s by default, from 1 s to one day. Heartbeats are
    /// sent after a fifth of it, and nodes are checked after a tenth, as with the defaults of Kubernetes.
    pub fn node_monitor_grace_period(mut self, period: Duration) -> Self {
        self.grace_period = GracePeriod::new(period);
        self
    }

    /// Builds the cluster. It does nothing until it is [run](Cluster::run).
    ///
    /// # Errors
    /// Fails if two nodes have the same name.
    pub fn build(self) -> Result<Cluster, ClusterError> {
        let ClientOf(client) = self.client;
        let (recorder, events) = EventRecorder::new(client.clone(), "simulator", EventConfig::default())?;
        let factory = InformerFactory::new(client.clone());
        let environment =
            Environment { client, factory, events: recorder, clock: Clock::start(), grace_period: self.grace_period };
        let mut controllers = controllers::all(&environment);
        controllers.push(scheduler::controller(&environment));
        // Requested here, so that the factory starts it with the others.
        drop(environment.factory.informer::<k8s_openapi::api::coordination::v1::Lease>());
        let (added, receiver) = mpsc::unbounded_channel();
        let cluster = Cluster(Arc::new(Shared {
            environment,
            runtime: self.runtime,
            nodes: Mutex::new(Nodes::default()),
            added,
            parts: Mutex::new(Some(Parts { added: receiver, controllers, events })),
        }));
        for node in self.nodes {
            cluster.insert(node)?;
        }
        Ok(cluster)
    }
}
