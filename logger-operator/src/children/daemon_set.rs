//! The DaemonSet: an agent on each node.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_apply::apps_v1::{
    DaemonSetApply, DaemonSetSpecApply, DaemonSetUpdateStrategyApply, RollingUpdateDaemonSetApply,
};
use logger_types::v2::LoggerSpec;

use super::{
    AgentOptions,
    pod::{REVISION_HISTORY_LIMIT, selector, template},
};
use crate::names::Names;

pub(super) fn daemon_set(names: &Names, spec: &LoggerSpec, agent: &AgentOptions) -> DaemonSetApply {
    let spec = DaemonSetSpecApply::new()
        .with_revision_history_limit(REVISION_HISTORY_LIMIT)
        .with_selector(selector(names))
        .with_template(template(names, spec, agent))
        .with_update_strategy(update_strategy());
    DaemonSetApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}

/// The new agent of a node is ready before its old one is stopped.
fn update_strategy() -> DaemonSetUpdateStrategyApply {
    let rolling_update = RollingUpdateDaemonSetApply::new()
        .with_max_surge(IntOrString::Int(1))
        .with_max_unavailable(IntOrString::Int(0));
    DaemonSetUpdateStrategyApply::new().with_type("RollingUpdate").with_rolling_update(rolling_update)
}
