//! The children of a Logger, as apply configurations: pure functions of the Logger and the options of agents.

mod daemon_set;
mod deployment;
mod disruption_budget;
mod environment;
mod network_policy;
mod pod;
mod service;
mod stateful_set;
mod tokens;

use kubewright_apply::{
    apps_v1::{DaemonSetApply, DeploymentApply, StatefulSetApply},
    core_v1::ServiceApply,
    networking_v1::NetworkPolicyApply,
    policy_v1::PodDisruptionBudgetApply,
};
use logger_types::v2::{Logger, LoggerSpec, LoggerWorkload};
use serde::Serialize;

use crate::{names::Names, spec::is_per_node};

/// The name of the port of an agent, for probes, metrics and ingestion.
const PORT_NAME: &str = "http";

/// The options of agents that are not part of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The image of the container.
    pub image: String,
    /// How long an agent stays on a node that does not respond, in seconds.
    pub toleration_seconds: u32,
    /// The namespace of the operator, which requests the reports of agents.
    pub operator_namespace: String,
}

/// The desired children of a Logger. Children of these kinds that are not in it are deleted; former workloads, when the
/// desired one is complete.
///
/// Guarantees:
/// - the selectors of two Loggers select different Pods, and contain neither a version nor an image: the selector of a
///   workload is immutable;
/// - agents are spread over zones and over nodes, and a rollout of a Deployment or a DaemonSet starts a new agent
///   before it stops an old one;
/// - the disruption budget never prevents the eviction of an agent that is not ready, nor that of a single one;
/// - if the Logger names peers, only these and the operator can connect to its agents, which connect to nothing;
/// - agents have no credentials for the API server, and meet the Pod security standard `restricted`.
#[derive(Clone, Debug, PartialEq)]
pub struct Children {
    /// Runs the agents.
    pub workload: WorkloadApply,
    /// The address for ingestion.
    pub service: ServiceApply,
    /// Restricts who can connect to the agents; none if the Logger names no peers.
    pub network_policy: Option<NetworkPolicyApply>,
    /// Limits the evictions of agents; none without agents, and none for agents of nodes, which a drain does not evict.
    pub disruption_budget: Option<PodDisruptionBudgetApply>,
}

/// The workload that runs the agents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum WorkloadApply {
    /// Agents that are spread over nodes.
    Deployment(Box<DeploymentApply>),
    /// An agent on each node.
    DaemonSet(Box<DaemonSetApply>),
    /// Agents with volume claims, spread over nodes.
    StatefulSet(Box<StatefulSetApply>),
}

/// Chooses the children of a Logger. This is the only function that depends on how a Logger runs its agents.
#[must_use]
pub fn desired(logger: &Logger, agent: &AgentOptions) -> Children {
    let (names, replicas, spec) = (Names::new(logger), desired_replicas(logger), &logger.spec);
    let workload = match workload_kind(spec) {
        LoggerWorkload::Deployment => {
            WorkloadApply::Deployment(Box::new(deployment::deployment(&names, spec, replicas, agent)))
        }
        LoggerWorkload::DaemonSet => WorkloadApply::DaemonSet(Box::new(daemon_set::daemon_set(&names, spec, agent))),
        LoggerWorkload::StatefulSet => {
            WorkloadApply::StatefulSet(Box::new(stateful_set::stateful_set(&names, spec, replicas, agent)))
        }
    };
    let peers = spec.source.as_ref().and_then(|source| source.from.as_deref());
    let has_budget = replicas > 0 && !is_per_node(spec);
    Children {
        workload,
        service: service::service(&names),
        network_policy: peers.map(|peers| network_policy::network_policy(&names, peers, agent)),
        disruption_budget: has_budget.then(|| disruption_budget::disruption_budget(&names, replicas)),
    }
}

/// Returns the kind of the workload that runs the agents of a spec.
#[must_use]
pub fn workload_kind(spec: &LoggerSpec) -> LoggerWorkload {
    let has_claim = spec.storage.as_ref().is_some_and(|storage| storage.volume_claim.is_some());
    match has_claim {
        _ if is_per_node(spec) => LoggerWorkload::DaemonSet,
        true => LoggerWorkload::StatefulSet,
        false => LoggerWorkload::Deployment,
    }
}

/// Returns the desired number of agents that are spread: 1 unless the Logger declares another one.
#[must_use]
pub fn desired_replicas(logger: &Logger) -> i32 {
    logger.spec.replicas.unwrap_or(1).max(0)
}
