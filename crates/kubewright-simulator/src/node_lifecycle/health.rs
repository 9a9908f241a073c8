//! The health of nodes: their heartbeats, the condition `Ready`, and the taints that follow from it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node, NodeCondition, Pod, Taint},
};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use kubewright_runtime::Store;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::zones::{Counts, Limiter};
use crate::{
    environment::{Environment, Recorder, on_node},
    model::{
        nodes::{self, LEASES, condition, is_cordoned, is_ready, zone},
        pods,
        taints::{self, NO_EXECUTE, NO_SCHEDULE, NOT_READY, UNREACHABLE, UNSCHEDULABLE},
    },
};

const CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
/// The taints that this controller adds and removes.
const OWN_TAINTS: [(&str, &str); 5] = [
    (NOT_READY, NO_SCHEDULE),
    (NOT_READY, NO_EXECUTE),
    (UNREACHABLE, NO_SCHEDULE),
    (UNREACHABLE, NO_EXECUTE),
    (UNSCHEDULABLE, NO_SCHEDULE),
];

/// Checks all nodes periodically, and those that changed at once. Returns only if the informers have stopped.
pub(super) async fn run(environment: &Environment) {
    let nodes = environment.nodes();
    let leases = environment.factory.informer::<Lease>();
    let Ok(mut changes) = nodes.events() else { return };
    let mut monitor = Monitor {
        client: Api::all(environment.client.clone()),
        environment: environment.clone(),
        events: environment.recorder("node-controller"),
        nodes: nodes.store(),
        leases: leases.store(),
        pods: environment.pods().store(),
        heartbeats: HashMap::new(),
        limiter: Limiter::default(),
    };
    let mut ticks = interval(environment.grace_period.monitor_interval());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            Some(event) = futures::StreamExt::next(&mut changes) => monitor.update_taints(event.object()).await,
            _ = ticks.tick() => monitor.check_all().await,
        }
    }
}

struct Monitor {
    environment: Environment,
    client: Api<Node>,
    events: Recorder,
    nodes: Store<Node>,
    leases: Store<Lease>,
    pods: Store<Pod>,
    heartbeats: HashMap<String, Heartbeat>,
    limiter: Limiter,
}

/// The last heartbeat of a node, at the time at which it was observed: the clock of the node can differ.
struct Heartbeat {
    version: Option<String>,
    observed: Instant,
}

impl Monitor {
    async fn check_all(&mut self) {
        let mut nodes = self.nodes.list();
        nodes.sort_by_key(|node| node.name_any());
        self.heartbeats.retain(|name, _| nodes.iter().any(|node| node.name_any() == *name));
        let mut zones: BTreeMap<String, Counts> = BTreeMap::new();
        for node in &nodes {
            let is_lost = self.is_silent(node) || !is_ready(node);
            let counts = zones.entry(zone(node).to_owned()).or_default();
            match is_lost {
                true => counts.lost += 1,
                false => counts.ready += 1,
            }
        }
        self.limiter.update(&zones);
        for node in nodes {
            let is_silent = self.is_silent(&node);
            if is_silent && condition(&node, "Ready").is_none_or(|ready| ready.status != "Unknown") {
                self.mark_unknown(&node).await;
            }
            if is_silent || !is_ready(&node) {
                self.mark_pods_not_ready(&node).await;
            }
            self.update_taints(&node).await;
        }
    }

    /// Returns whether a node has sent no heartbeat for too long.
    fn is_silent(&mut self, node: &Node) -> bool {
        let (name, now) = (node.name_any(), Instant::now());
        let version = self.leases.get(LEASES, &name).and_then(|lease| lease.resource_version());
        let heartbeat =
            self.heartbeats.entry(name).or_insert_with(|| Heartbeat { version: version.clone(), observed: now });
        if heartbeat.version != version {
            *heartbeat = Heartbeat { version, observed: now };
        }
        heartbeat.observed + self.environment.grace_period.duration() < now
    }

    async fn mark_unknown(&self, node: &Node) {
        let time = self.environment.clock.time();
        let unknown = |type_: &str| {
            let known = condition(node, type_);
            NodeCondition {
                type_: type_.to_owned(),
                status: "Unknown".to_owned(),
                reason: Some(if known.is_some() { "NodeStatusUnknown" } else { "NodeStatusNeverUpdated" }.to_owned()),
                message: Some(
                    if known.is_some() {
                        "Kubelet stopped posting node status."
                    } else {
                        "Kubelet never posted node status."
                    }
                    .to_owned(),
                ),
                last_heartbeat_time: known.and_then(|known| known.last_heartbeat_time.clone()),
                last_transition_time: Some(time.clone()),
            }
        };
        let patch = Patch::Strategic(json!({"status": {"conditions": CONDITIONS.map(unknown)}}));
        let written = self.client.patch_status(&node.name_any(), &PatchParams::default(), &patch).await;
        match written {
            Ok(_) => {
                let note = format!("Node {} status is now: NodeNotReady", node.name_any());
                self.events.normal(node, "NodeNotReady", note);
            }
            Err(error) => log_failed("the status of a node", &error),
        }
    }

    /// Marks the pods of a lost node as not ready, so that they receive no traffic.
    async fn mark_pods_not_ready(&self, node: &Node) {
        for pod in on_node(&self.pods, &node.name_any()).into_iter().filter(|pod| pods::is_ready(pod)) {
            let ready = json!({
                "type": pods::READY, "status": "False", "lastTransitionTime": self.environment.clock.time(),
            });
            let patch = Patch::Strategic(json!({
                "metadata": {"uid": pod.uid()}, "status": {"conditions": [ready]},
            }));
            let namespace = pod.namespace().unwrap_or_default();
            let api: Api<Pod> = Api::namespaced(self.environment.client.clone(), &namespace);
            match api.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await {
                Ok(_) => self.events.warning(&*pod, "NodeNotReady", "Node is not ready"),
                Err(error) => log_failed("the status of a pod", &error),
            }
        }
    }

    /// Writes the taints that follow from the conditions of a node, and from `spec.unschedulable`.
    async fn update_taints(&mut self, node: &Arc<Node>) {
        // The event can be older than the cache.
        let Some(node) = self.nodes.get("", &node.name_any()) else { return };
        let desired = self.desired_taints(&node);
        let is_own = |taint: &Taint| OWN_TAINTS.contains(&(taint.key.as_str(), taint.effect.as_str()));
        let present: Vec<_> = taints::of_node(&node)
            .iter()
            .filter(|taint| is_own(taint))
            .map(|taint| (&*taint.key, &*taint.effect))
            .collect();
        if present.len() == desired.len() && desired.iter().all(|taint| present.contains(taint)) {
            return;
        }
        let mut all: Vec<Taint> = taints::of_node(&node).to_vec();
        all.retain(|taint| !is_own(taint) || desired.contains(&(taint.key.as_str(), taint.effect.as_str())));
        for (key, effect) in &desired {
            if !all.iter().any(|taint| taint.key == *key && taint.effect == *effect) {
                let time_added = Some(self.environment.clock.time());
                all.push(Taint { key: (*key).to_owned(), effect: (*effect).to_owned(), value: None, time_added });
            }
        }
        let metadata = json!({"resourceVersion": node.resource_version()});
        let patch = Patch::Merge(json!({"metadata": metadata, "spec": {"taints": all}}));
        if let Err(error) = self.client.patch(&node.name_any(), &PatchParams::default(), &patch).await {
            log_failed("the taints of a node", &error);
        }
    }

    /// Returns the desired taints. That which evicts pods is added at the pace of the zone, and removed at once.
    fn desired_taints(&mut self, node: &Node) -> Vec<(&'static str, &'static str)> {
        let mut desired = Vec::new();
        let ready = condition(node, "Ready").map_or("Unknown", |ready| ready.status.as_str());
        let never_reported = condition(node, "Ready").is_none();
        let key = if ready == "Unknown" && !never_reported { UNREACHABLE } else { NOT_READY };
        if ready != "True" {
            desired.push((key, NO_SCHEDULE));
            let zone = nodes::zone(node);
            let is_tainted = taints::of_node(node).iter().any(|taint| taint.effect == NO_EXECUTE && taint.key == key);
            let stays = is_tainted && !self.limiter.is_stopped();
            if !never_reported && (stays || self.limiter.try_take(zone)) {
                desired.push((key, NO_EXECUTE));
            }
        }
        if is_cordoned(node) {
            desired.push((UNSCHEDULABLE, NO_SCHEDULE));
        }
        desired
    }
}

/// Logs a failed write, which the next check repeats.
fn log_failed(what: &str, error: &kube::Error) {
    tracing::warn!(%error, "cannot write {what}; it is retried");
}
