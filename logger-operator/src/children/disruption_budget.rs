//! The PodDisruptionBudget: at least one agent remains while nodes are drained.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright_apply::policy_v1::{PodDisruptionBudgetApply, PodDisruptionBudgetSpecApply};

use super::pod::selector;
use crate::names::Names;

/// A budget with one available agent would block every drain of the node of a single agent, so that one may be evicted.
pub(super) fn disruption_budget(names: &Names, replicas: i32) -> PodDisruptionBudgetApply {
    // Agents that are not ready may be evicted in any case.
    let spec = PodDisruptionBudgetSpecApply::new()
        .with_selector(selector(names))
        .with_unhealthy_pod_eviction_policy("AlwaysAllow");
    let spec = match replicas {
        1 => spec.with_max_unavailable(IntOrString::Int(1)),
        _ => spec.with_min_available(IntOrString::Int(1)),
    };
    PodDisruptionBudgetApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}
