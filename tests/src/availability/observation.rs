//! What is observed at one time: the nodes, and the agents of a Logger.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

/// The port of agents.
const PORT: u16 = 8080;

/// The nodes, and the agents of a Logger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The nodes, by name.
    pub nodes: Vec<ObservedNode>,
    /// The agents, by name.
    pub agents: Vec<Agent>,
    /// Whether the API server responded. Otherwise nodes and Pods are the last known ones.
    pub is_current: bool,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNode {
    pub name: String,
    pub zone: String,
    /// Whether it is ready and schedulable.
    pub is_available: bool,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub node: String,
    pub address: Option<SocketAddr>,
    /// Whether the Pod has the condition `Ready`.
    pub is_reported_ready: bool,
    /// Whether the Pod is being deleted.
    pub is_terminating: bool,
    /// Whether the agent reports that it is ready.
    pub responds: bool,
}

impl Agent {
    /// Returns an agent that has not been requested yet.
    pub(super) fn from_pod(pod: &Pod) -> Self {
        let status = pod.status.clone().unwrap_or_default();
        let conditions = status.conditions.iter().flatten();
        let ip = status.pod_ip.as_deref().and_then(|ip| ip.parse::<IpAddr>().ok());
        Agent {
            name: pod.name_any(),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
            address: ip.map(|ip| SocketAddr::new(ip, PORT)),
            is_reported_ready: has_ready(conditions.map(|condition| (&condition.type_, &condition.status))),
            is_terminating: pod.metadata.deletion_timestamp.is_some(),
            responds: false,
        }
    }

    /// Returns whether the agent is ready: the API server and the agent report it.
    pub fn is_ready(&self) -> bool {
        self.is_reported_ready && !self.is_terminating && self.responds
    }
}

impl ObservedNode {
    pub(super) fn from_node(node: &Node) -> Self {
        let (spec, status) = (node.spec.clone().unwrap_or_default(), node.status.clone().unwrap_or_default());
        let is_ready =
            has_ready(status.conditions.iter().flatten().map(|condition| (&condition.type_, &condition.status)));
        let is_tainted = spec.taints.iter().flatten().any(|taint| taint.effect != "PreferNoSchedule");
        ObservedNode {
            name: node.name_any(),
            zone: node.labels().get("topology.kubernetes.io/zone").cloned().unwrap_or_default(),
            is_available: is_ready && !is_tainted && spec.unschedulable != Some(true),
        }
    }
}

/// Returns whether the condition `Ready` is true, by the types and the statuses of conditions.
fn has_ready<'a>(mut conditions: impl Iterator<Item = (&'a String, &'a String)>) -> bool {
    conditions.any(|(type_, status)| type_ == "Ready" && status == "True")
}

impl Observation {
    /// Returns the number of ready agents.
    pub fn ready(&self) -> usize {
        self.agents.iter().filter(|agent| agent.is_ready()).count()
    }

    /// Returns the number of ready schedulable nodes.
    pub fn available_nodes(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_available).count()
    }

    /// Returns whether no agent is ready although there is a node for one.
    pub fn is_outage(&self) -> bool {
        self.ready() == 0 && self.available_nodes() > 0
    }

    /// Returns whether as many agents are ready as desired, as far as there are nodes: agents share none. Nodes that
    /// are lost do not count, also before that is noticed. Until then, a rollout counts their agents as available and
    /// can delete one that is ready.
    pub fn has_recovered(&self, desired: usize, lost: &[String]) -> bool {
        let (on_lost, remaining): (Vec<_>, Vec<_>) = self.agents.iter().partition(|agent| lost.contains(&agent.node));
        let ready = remaining.into_iter().filter(|agent| agent.is_ready()).count();
        let nodes = self.nodes.iter().filter(|node| node.is_available && !lost.contains(&node.name)).count();
        let is_noticed = on_lost.into_iter().all(|agent| agent.is_terminating || !agent.is_reported_ready);
        self.is_current && ready >= desired.min(nodes).max(1) && (is_noticed || !self.has_surplus(desired))
    }

    /// Returns whether there are more agents than desired: a rollout is in progress.
    pub fn has_surplus(&self, desired: usize) -> bool {
        self.agents.iter().filter(|agent| !agent.is_terminating).count() > desired
    }
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ready", self.ready())?;
        for Agent { name, node, is_reported_ready, is_terminating, responds, .. } in &self.agents {
            let states = [
                (*is_reported_ready, "Ready"),
                (*responds, "responds"),
                (*is_terminating, "terminating"),
                (!is_reported_ready && !responds && !is_terminating, "starting"),
            ];
            let states: Vec<_> = states.into_iter().filter(|(holds, _)| *holds).map(|(_, state)| state).collect();
            let node = if node.is_empty() { "no node" } else { node };
            write!(f, "; {name} on {node}: {}", states.join(", "))?;
        }
        let lost: Vec<_> = self.nodes.iter().filter(|node| !node.is_available).map(|node| node.name.as_str()).collect();
        if !lost.is_empty() {
            write!(f, "; not available: {}", lost.join(", "))?;
        }
        if !self.is_current {
            write!(f, "; the API server does not respond")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(spec: serde_json::Value, ready: &str) -> ObservedNode {
        let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
        let node = json!({"metadata": {"name": "a"}, "spec": spec, "status": status});
        ObservedNode::from_node(&serde_json::from_value(node).unwrap())
    }

    #[test]
    fn a_node_is_available_if_it_is_ready_and_schedulable() {
        assert!(node(json!({}), "True").is_available);
        assert!(!node(json!({}), "Unknown").is_available);
        assert!(!node(json!({"unschedulable": true}), "True").is_available);
        let tainted = |effect: &str| node(json!({"taints": [{"key": "a", "effect": effect}]}), "True").is_available;
        assert_eq!(["NoSchedule", "NoExecute", "PreferNoSchedule"].map(tainted), [false, false, true]);
    }

    #[test]
    fn agents_and_nodes_that_are_lost_do_not_count() {
        let node = |name: &str| ObservedNode { name: name.to_owned(), zone: String::new(), is_available: true };
        let agent = |node: &str| Agent {
            name: format!("agent-{node}"),
            node: node.to_owned(),
            address: None,
            is_reported_ready: true,
            is_terminating: false,
            responds: true,
        };
        let (nodes, agents) = (["a", "b", "c"].map(node).into(), ["a", "b"].map(agent).into());
        let observation = Observation { nodes, agents, is_current: true };
        let lost = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(observation.has_recovered(2, &[]));
        assert!(!observation.has_recovered(2, &lost(&["a"])), "c has no agent yet");
        assert!(observation.has_recovered(2, &lost(&["a", "c"])), "one node is left");
        let mut rollout = Observation { agents: ["a", "b", "c"].map(agent).into(), ..observation };
        assert!(!rollout.has_recovered(2, &lost(&["a", "c"])), "the agents of a and c count as available");
        rollout.agents.iter_mut().filter(|agent| agent.node != "b").for_each(|agent| agent.is_reported_ready = false);
        assert!(rollout.has_recovered(2, &lost(&["a", "c"])), "their loss is noticed");
    }

    #[test]
    fn an_agent_is_ready_if_it_is_reported_and_responds() {
        let status = json!({"podIP": "127.1.0.1", "conditions": [{"type": "Ready", "status": "True"}]});
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n", "containers": []}, "status": status});
        let agent = Agent::from_pod(&serde_json::from_value(pod).unwrap());
        assert!(agent.is_reported_ready && !agent.is_ready());
        assert_eq!(agent.address.unwrap().to_string(), "127.1.0.1:8080");
        let agent = Agent { responds: true, ..agent };
        assert!(agent.is_ready());
        assert!(!Agent { is_terminating: true, ..agent }.is_ready());
    }
}
