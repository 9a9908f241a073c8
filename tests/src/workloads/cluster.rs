//! The cluster of a scenario: its nodes, its requests, and what it waits for.

use std::time::Duration;

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::ControllerRevision,
        coordination::v1::Lease,
        core::v1::{Node, Pod},
        events::v1::Event,
    },
};
use kube::{
    Api, Client,
    api::{EvictParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::object::ApiObject;
use kubewright_simulator::NodeConfig;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    objects::{Objects, has_condition, is_ready, is_tainted, is_terminating, name},
    observer::Observer,
    outcome::Outcome,
};

/// The label of nodes with the scenario that they belong to.
const LABEL: &str = "workload";
/// The label of nodes and of their pods with the zone.
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";
/// The namespace of the leases with the heartbeats of nodes.
const LEASES: &str = "kube-node-lease";
/// The interval between two tries of an eviction that a budget does not allow.
const EVICTION_INTERVAL: Duration = Duration::from_secs(1);

/// Who runs the nodes.
pub(super) enum Nodes {
    Simulated(kubewright_simulator::Cluster),
    Kwok,
}

impl Nodes {
    /// Returns how long a state can take, and how long no change occurs until nothing is pending.
    fn limits(&self) -> (Duration, Duration) {
        match self {
            // Paused time makes it short.
            Nodes::Simulated(_) => (Duration::from_secs(3600), Duration::from_secs(60)),
            Nodes::Kwok => (Duration::from_secs(180), Duration::from_secs(4)),
        }
    }
}

/// The cluster of a scenario, with two nodes in zone `a` and one in zone `b`.
pub struct Cluster {
    client: Client,
    /// The name of the namespace, and the prefix of the names of nodes and zones.
    name: String,
    nodes: Nodes,
    observer: Observer,
}

impl Cluster {
    pub(super) async fn start(client: Client, name: &str, nodes: Nodes) -> Self {
        crate::namespace(&client, name).await;
        let observer = Observer::start(&client, name, &format!("{LABEL}={name}"));
        let mut cluster = Cluster { client, name: name.to_owned(), nodes, observer };
        for (zone, number) in [("a", 1), ("a", 2), ("b", 1)] {
            cluster.add_node(zone, number).await;
        }
        cluster
    }

    /// Returns the name of a node.
    pub(super) fn node(&self, zone: &str, number: usize) -> String {
        format!("{}-{number}", self.zone(zone))
    }

    fn zone(&self, zone: &str) -> String {
        format!("{}-{zone}", self.name)
    }

    /// Adds a node, and waits until pods can be scheduled on it.
    pub(super) async fn add_node(&mut self, zone: &str, number: usize) {
        let (node, zone) = (self.node(zone, number), self.zone(zone));
        match &self.nodes {
            Nodes::Simulated(simulator) => {
                let config = NodeConfig::new(&node).zone(zone).label(LABEL, &self.name);
                simulator.add_node(config).await.expect("the node is new");
            }
            Nodes::Kwok => {
                let labels = json!({
                    "kubernetes.io/hostname": node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                    ZONE: zone, LABEL: self.name,
                });
                let object = json!({"metadata": {"name": node, "labels": labels}});
                let object: Node = serde_json::from_value(object).expect("a node");
                let nodes: Api<Node> = Api::all(self.client.clone());
                nodes.create(&PostParams::default(), &object).await.expect("the node is new");
            }
        }
        self.wait_for(&format!("{node} is ready"), |objects| {
            objects.get("Node", &node).is_some_and(|node| is_ready(node) && !is_tainted(node))
        })
        .await;
    }

    /// Cuts a node off from the API server: its heartbeats stop, and its pods remain as they are.
    pub(super) async fn cut_off(&self, zone: &str, number: usize) {
        let node = self.node(zone, number);
        match &self.nodes {
            Nodes::Simulated(simulator) => simulator.cut_off(&node).await.expect("the node exists"),
            Nodes::Kwok => {
                // kwok leaves a node alone whose lease has another holder.
                let spec = json!({"holderIdentity": "cut-off", "leaseDurationSeconds": 86_400});
                let leases: Api<Lease> = Api::namespaced(self.client.clone(), LEASES);
                let patched = leases.patch(&node, &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await;
                patched.expect("a node that is ready has a lease");
            }
        }
    }

    /// Returns the template of pods of an app: they run on the nodes of the scenario, become ready after a second, and
    /// leave a lost node after two.
    pub(super) fn template(&self, app: &str) -> Value {
        let tolerated =
            |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 2});
        json!({
            "metadata": {"labels": {"app": app}, "annotations": {"simulator/ready-after": "1s"}},
            "spec": {
                "nodeSelector": {LABEL: self.name},
                "tolerations": [
                    tolerated("node.kubernetes.io/unreachable"), tolerated("node.kubernetes.io/not-ready"),
                ],
                "containers": [{"name": "main", "image": format!("{app}:1")}],
            },
        })
    }

    /// Returns a Deployment whose pods spread over the usable domains of a topology, such as hosts.
    pub(super) fn spread_deployment(&self, app: &str, replicas: usize, topology: &str) -> Value {
        let constraint = json!({
            "maxSkew": 1, "topologyKey": topology, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor",
            "labelSelector": {"matchLabels": {"app": app}},
        });
        let mut deployment = self.deployment(app, replicas);
        deployment["spec"]["template"]["spec"]["topologySpreadConstraints"] = json!([constraint]);
        deployment
    }

    /// Returns a Deployment.
    pub(super) fn deployment(&self, app: &str, replicas: usize) -> Value {
        json!({
            "metadata": {"name": app},
            "spec": {
                "replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": self.template(app),
            },
        })
    }

    fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.name)
    }

    /// Creates an object.
    pub(super) async fn create<K: ApiObject<Scope = NamespaceResourceScope>>(&self, object: Value) {
        let object: K = serde_json::from_value(object).expect("an object");
        self.api().create(&PostParams::default(), &object).await.expect("the object is valid");
    }

    /// Changes an object with a merge patch.
    pub(super) async fn patch<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, patch: Value) {
        let patched = self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.expect("the object exists");
    }

    /// Returns the names of the ready pods of an app, as observed so far.
    pub(super) fn ready_pods(&self, app: &str) -> Vec<String> {
        self.observer.objects.ready_pods(app).into_iter().map(|pod| name(pod).to_owned()).collect()
    }

    /// Waits until the objects meet a condition, which is called with every state.
    pub(super) async fn wait_for(&mut self, what: &str, mut condition: impl FnMut(&Objects) -> bool) {
        let deadline = Instant::now() + self.nodes.limits().0;
        while !condition(&self.observer.objects) {
            let observed = timeout_at(deadline, self.observer.observe()).await;
            assert!(observed.is_ok(), "not reached: {what}: {:#?}", self.observer.objects);
        }
    }

    /// Waits until this number of pods of an app is ready, and no others are to be.
    pub(super) async fn wait_for_pods(&mut self, app: &str, number: usize) {
        self.wait_for(&format!("{number} ready pods of {app}"), |objects| {
            objects.pods(app).len() == number && objects.ready_pods(app).len() == number
        })
        .await;
    }

    /// Waits until a condition of an object has this status and reason.
    pub(super) async fn wait_for_condition(&mut self, kind: &'static str, name: &str, condition: [&str; 3]) {
        let [type_, status, reason] = condition;
        self.wait_for(&format!("{type_}={status} ({reason}) of {name}"), |objects| {
            objects.get(kind, name).is_some_and(|object| has_condition(object, type_, status, reason))
        })
        .await;
    }

    /// Cordons a node.
    pub(super) async fn cordon(&mut self, node: &str) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let patch = Patch::Merge(json!({"spec": {"unschedulable": true}}));
        nodes.patch(node, &PatchParams::default(), &patch).await.expect("the node exists");
        // The taint without which another pod can be scheduled on the node.
        self.wait_for(&format!("{node} is tainted"), |objects| objects.get("Node", node).is_some_and(is_tainted)).await;
    }

    /// Evicts the pods of a node once. Returns the message of the last rejection by a budget.
    pub(super) async fn evict(&self, node: &str) -> Option<String> {
        let (pods, mut rejected) = (self.api::<Pod>(), None);
        let remaining = self.observer.objects.on_node(node);
        for pod in remaining.into_iter().filter(|pod| !is_terminating(pod)) {
            match pods.evict(name(pod), &EvictParams::default()).await {
                Err(kube::Error::Api(status)) if status.code == 429 => {
                    let causes = status.details.iter().flat_map(|details| &details.causes);
                    rejected = Some(causes.map(|cause| cause.message.clone()).collect());
                }
                Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => {}
                evicted => drop(evicted.expect("the eviction is valid")),
            }
        }
        rejected
    }

    /// Evicts the pods of a node until there are none, as a drain does.
    pub(super) async fn drain(&mut self, node: &str) {
        self.cordon(node).await;
        let deadline = Instant::now() + self.nodes.limits().0;
        while !self.observer.objects.on_node(node).is_empty() {
            assert!(Instant::now() < deadline, "not drained: {:#?}", self.observer.objects.on_node(node));
            self.evict(node).await;
            self.observe_for(EVICTION_INTERVAL).await;
        }
    }

    /// Observes changes for this time.
    pub(super) async fn observe_for(&mut self, duration: Duration) {
        let end = Instant::now() + duration;
        while timeout_at(end, self.observer.observe()).await.is_ok() {}
    }

    /// Waits until nothing is pending, and returns the outcome.
    pub(super) async fn outcome(mut self) -> Outcome {
        let (limit, quiet) = self.nodes.limits();
        let deadline = Instant::now() + limit;
        while timeout(quiet, self.observer.observe()).await.is_ok() {
            assert!(Instant::now() < deadline, "the objects change without end: {:#?}", self.observer.objects);
        }
        let mut events = self.list::<Event>(self.api()).await;
        // The namespace of events about objects without one.
        events.extend(self.list::<Event>(Api::namespaced(self.client.clone(), "default")).await);
        let revisions = self.list::<ControllerRevision>(self.api()).await;
        Outcome::new(&self.observer.objects, &self.observer.history, &events, &revisions)
    }

    async fn list<K: ApiObject>(&self, api: Api<K>) -> Vec<Value> {
        let objects = api.list(&ListParams::default()).await.expect("the kind is served");
        let values = objects.items.into_iter().map(serde_json::to_value);
        values.map(|value| value.expect("an object can be encoded")).collect()
    }
}
