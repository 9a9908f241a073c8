//! The kubelet of one node: registration, heartbeats, and a worker for each pod.

use std::{collections::HashMap, future::pending, panic::resume_unwind, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node, NodeCondition, Pod, Taint},
};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_runtime::{CancellationToken, Event, HandlerOptions};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use super::{
    node_context::{NodeContext, Power},
    pod::{self, Seen},
    runtime::Runtime,
    server,
};
use crate::{
    environment::Environment,
    model::{nodes, pods},
};

/// After which time a failed write is retried.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The kubelet of a node.
pub(crate) struct NodeAgent {
    context: Arc<NodeContext>,
    template: Node,
    /// The state that the node has reached; `None` until it has registered.
    reached: watch::Sender<Option<Power>>,
}

impl NodeAgent {
    /// Creates the kubelet of a node, with the object that it registers.
    pub(crate) fn new(
        template: Node,
        number: u32,
        runtime: Runtime,
        environment: &Environment,
        power: watch::Receiver<Power>,
        reached: watch::Sender<Option<Power>>,
    ) -> Self {
        let context = NodeContext::new(template.name_any(), number, runtime, environment, power);
        NodeAgent { context: Arc::new(context), template, reached }
    }

    /// Runs until cancelled. Containers are killed when the node is switched off and when it is cancelled.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut power = self.context.power.clone();
        loop {
            // A node can be switched off before it has started.
            if *power.borrow_and_update() == Power::Off {
                self.reached.send_replace(Some(Power::Off));
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                on = power.wait_for(|power| *power != Power::Off) => if on.is_err() { return },
            }
            let mut workers = JoinSet::new();
            let is_off = tokio::select! {
                biased;
                () = stop.cancelled() => false,
                off = power.wait_for(|power| *power == Power::Off) => off.is_ok(),
                () = self.session(&mut workers) => false,
            };
            workers.shutdown().await;
            if !is_off {
                return;
            }
            self.reached.send_replace(Some(Power::Off));
        }
    }

    /// Runs from a start of the node until it is switched off. Returns only if the informers have stopped.
    async fn session(&self, workers: &mut JoinSet<String>) {
        let power = *self.context.power.borrow();
        if power == Power::CutOff {
            self.reached.send_replace(Some(power));
        }
        self.context.connected().await;
        while !self.register().await {
            sleep(RETRY_INTERVAL).await;
        }
        let listener = server::listen(&self.context).await;
        let port = listener.as_ref().and_then(|listener| listener.local_addr().ok()).map(|address| address.port());
        tokio::select! {
            () = self.send_heartbeats(port) => {}
            () = self.run_pods(workers) => {}
            () = server::run(&self.context, listener) => {}
        }
    }

    /// Creates the Node, unless it exists. Returns whether it does.
    async fn register(&self) -> bool {
        let api: Api<Node> = Api::all(self.context.environment.client.clone());
        match api.create(&PostParams::default(), &self.template).await {
            Ok(_) => true,
            Err(kube::Error::Api(error)) if error.is_already_exists() => true,
            Err(error) => {
                tracing::warn!(%error, node = self.context.name, "cannot register a node; it is retried");
                false
            }
        }
    }

    /// Renews the lease and the status of the node while it is connected, with the port of the kubelet. Never returns.
    async fn send_heartbeats(&self, port: Option<u16>) {
        let mut power = self.context.power.clone();
        loop {
            let current = *power.borrow_and_update();
            let delay = match current {
                Power::On => match self.send_heartbeat(port).await {
                    Ok(()) => {
                        self.reached.send_replace(Some(Power::On));
                        self.context.environment.grace_period.heartbeat_interval()
                    }
                    Err(error) => {
                        tracing::warn!(%error, node = self.context.name, "cannot send a heartbeat; it is retried");
                        RETRY_INTERVAL
                    }
                },
                other => {
                    self.reached.send_replace(Some(other));
                    Duration::MAX
                }
            };
            tokio::select! {
                changed = power.changed() => if changed.is_err() { return pending().await },
                () = sleep(delay.min(Duration::from_secs(86_400))) => {}
            }
        }
    }

    async fn send_heartbeat(&self, port: Option<u16>) -> kube::Result<()> {
        let (environment, name) = (&self.context.environment, &self.context.name);
        let leases: Api<Lease> = Api::namespaced(environment.client.clone(), nodes::LEASES);
        let spec = json!({
            "holderIdentity": name, "renewTime": environment.clock.micro_time(),
            "leaseDurationSeconds": environment.grace_period.lease_duration().as_secs().max(1),
        });
        let patch = Patch::Merge(json!({"spec": spec}));
        match leases.patch(name, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(error)) if error.is_not_found() => {
                let lease = serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec}));
                leases.create(&PostParams::default(), &lease.map_err(kube::Error::SerdeError)?).await?;
            }
            renewed => drop(renewed?),
        }
        let nodes: Api<Node> = Api::all(environment.client.clone());
        let known = nodes.get(name).await?;
        let was_ready = nodes::is_ready(&known);
        let has_new_port = port.is_some() && port != nodes::kubelet_port(&known);
        if !was_ready || has_new_port {
            let patch = Patch::Strategic(json!({"status": self.status(&known, port)}));
            nodes.patch_status(name, &PatchParams::default(), &patch).await?;
        }
        if !was_ready {
            self.context.normal(&known, "NodeReady", format!("Node {name} status is now: NodeReady"));
        }
        Ok(())
    }

    fn status(&self, known: &Node, port: Option<u16>) -> Value {
        let time = self.context.environment.clock.time();
        let condition = |(type_, status, reason, message): (&str, &str, &str, &str)| {
            let same = nodes::condition(known, type_).filter(|known| known.status == status);
            let transition = same.and_then(|known| known.last_transition_time.clone());
            NodeCondition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                reason: Some(reason.to_owned()),
                message: Some(message.to_owned()),
                last_heartbeat_time: Some(time.clone()),
                last_transition_time: transition.or_else(|| Some(time.clone())),
            }
        };
        let conditions = [
            ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ];
        let template = self.template.status.clone().unwrap_or_default();
        let mut status = json!({
            "capacity": template.capacity,
            "allocatable": template.capacity,
            "conditions": conditions.map(condition),
            "addresses": [
                {"type": "InternalIP", "address": self.context.ip},
                {"type": "Hostname", "address": self.context.name},
            ],
        });
        if let Some(port) = port {
            status["daemonEndpoints"] = json!({"kubeletEndpoint": {"Port": port}});
        }
        status
    }

    /// Runs a worker for each pod of the node. Returns if the informer has stopped.
    async fn run_pods(&self, workers: &mut JoinSet<String>) {
        let name = self.context.name.clone();
        let options = HandlerOptions::new().filter(move |pod: &Pod| pods::node_name(pod) == Some(name.as_str()));
        let Ok(mut events) = self.context.environment.pods().events_with(options) else { return };
        let mut known: HashMap<String, watch::Sender<Seen>> = HashMap::new();
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => {
                        // A node that is cut off sees the current state when it is connected again.
                        self.context.connected().await;
                        self.handle(&event, &mut known, workers);
                    }
                    None => return,
                },
                Some(ended) = workers.join_next() => {
                    match ended {
                        Ok(uid) => drop(known.remove(&uid)),
                        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                        Err(_) => {}
                    }
                }
            }
        }
    }

    fn handle(
        &self,
        event: &Event<Pod>,
        known: &mut HashMap<String, watch::Sender<Seen>>,
        workers: &mut JoinSet<String>,
    ) {
        let (old, new) = match event {
            Event::Added { object, .. } => (None, Some(object)),
            Event::Updated { old, new } => (Some(old), Some(new)),
            Event::Deleted { object, .. } => (Some(object), None),
        };
        let uid = |pod: &Arc<Pod>| pod.uid().unwrap_or_default();
        // A pod that was recreated under the same name is another one.
        if let Some(old) = old.filter(|old| new.is_none_or(|new| uid(new) != uid(old)))
            && let Some(sender) = known.remove(&uid(old))
        {
            sender.send_replace(Seen::Gone);
        }
        let Some(pod) = new else { return };
        let seen = Seen::Pod(Arc::clone(pod));
        match known.get(&uid(pod)) {
            Some(sender) => drop(sender.send_replace(seen)),
            None => {
                let (sender, receiver) = watch::channel(seen);
                let worker = pod::run(Arc::clone(&self.context), Arc::clone(pod), receiver);
                let uid = uid(pod);
                known.insert(uid.clone(), sender);
                workers.spawn(async move {
                    worker.await;
                    uid
                });
            }
        }
    }
}

/// Returns the object of a node.
pub(crate) fn template(name: &str, zone: Option<&str>, taints: Vec<Taint>) -> Node {
    let mut node = Node::default();
    node.metadata.name = Some(name.to_owned());
    let labels = node.labels_mut();
    labels.insert(nodes::HOSTNAME_LABEL.to_owned(), name.to_owned());
    labels.insert("kubernetes.io/os".to_owned(), "linux".to_owned());
    labels.insert("kubernetes.io/arch".to_owned(), "amd64".to_owned());
    if let Some(zone) = zone {
        labels.insert(nodes::ZONE_LABEL.to_owned(), zone.to_owned());
    }
    node.spec.get_or_insert_default().taints = Some(taints).filter(|taints| !taints.is_empty());
    node
}
