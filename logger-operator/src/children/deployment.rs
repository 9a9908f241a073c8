//! The Deployment: agents that are spread over nodes.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_apply::apps_v1::{
    DeploymentApply, DeploymentSpecApply, DeploymentStrategyApply, RollingUpdateDeploymentApply,
};
use logger_types::v2::LoggerSpec;

use super::{
    AgentOptions,
    pod::{REVISION_HISTORY_LIMIT, selector, spread_template},
};
use crate::names::Names;

/// Distinguishes the agents of one revision, so that a rollout spreads those of the new one by themselves.
const REVISION_LABEL: &str = "pod-template-hash";

pub(super) fn deployment(names: &Names, spec: &LoggerSpec, replicas: i32, agent: &AgentOptions) -> DeploymentApply {
    let spec = DeploymentSpecApply::new()
        .with_replicas(replicas)
        .with_revision_history_limit(REVISION_HISTORY_LIMIT)
        .with_selector(selector(names))
        .with_strategy(strategy())
        .with_template(spread_template(names, spec, agent, REVISION_LABEL));
    DeploymentApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}

/// A new agent is ready before an old one is stopped.
fn strategy() -> DeploymentStrategyApply {
    let rolling_update = RollingUpdateDeploymentApply::new()
        .with_max_surge(IntOrString::Int(1))
        .with_max_unavailable(IntOrString::Int(0));
    DeploymentStrategyApply::new().with_type("RollingUpdate").with_rolling_update(rolling_update)
}
