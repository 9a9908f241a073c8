//! The children of a Logger, as apply configurations: pure functions of the Logger and the options of agents.

mod deployment;
mod disruption_budget;
mod service;

use logger_apply::{apps_v1::DeploymentApply, core_v1::ServiceApply, policy_v1::PodDisruptionBudgetApply};
use logger_types::v1::Logger;

use crate::names::Names;

/// The name of the port of an agent, for probes, metrics and ingestion.
const PORT_NAME: &str = "http";

/// The options of agents that are not part of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The image of the container.
    pub image: String,
    /// How long an agent stays on a node that does not respond, in seconds.
    pub toleration_seconds: u32,
}

/// The desired children of a Logger. Children of these kinds that are not in it are deleted.
///
/// Guarantees:
/// - the selectors of two Loggers select different Pods, and contain neither a version nor an image: the selector of a
///   Deployment is immutable;
/// - agents are spread over zones and over nodes, and a rollout starts a new agent before it stops an old one;
/// - the disruption budget never prevents the eviction of an agent that is not ready, nor that of a single one;
/// - agents have no credentials for the API server, and meet the Pod security standard `restricted`.
#[derive(Clone, Debug, PartialEq)]
pub struct Children {
    /// Runs the agents.
    pub deployment: DeploymentApply,
    /// The address for ingestion.
    pub service: ServiceApply,
    /// Limits the evictions of agents; none without agents.
    pub disruption_budget: Option<PodDisruptionBudgetApply>,
}

/// Chooses the children of a Logger. This is the only function that depends on how a Logger runs its agents: another
/// workload, such as a DaemonSet, is another field of [`Children`] that is set here.
#[must_use]
pub fn desired(logger: &Logger, agent: &AgentOptions) -> Children {
    let (names, replicas) = (Names::of(logger), desired_replicas(logger));
    Children {
        deployment: deployment::deployment(&names, &logger.spec, replicas, agent),
        service: service::service(&names),
        disruption_budget: (replicas > 0).then(|| disruption_budget::disruption_budget(&names, replicas)),
    }
}

/// Returns the desired number of agents: 1 unless the Logger declares another one.
#[must_use]
pub fn desired_replicas(logger: &Logger) -> i32 {
    logger.spec.replicas.unwrap_or(1).max(0)
}
