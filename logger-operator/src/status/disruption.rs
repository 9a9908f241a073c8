//! The disruption budget of a Logger, as the disruption controller reports it.

use k8s_openapi::api::policy::v1::PodDisruptionBudget;

use super::Problem;
use crate::reason;

/// Returns the problem that a budget rejects the eviction of every healthy agent. A status that does not contain the
/// ready agents yet is not a problem.
pub(super) fn problem(budget: &PodDisruptionBudget, ready: i32) -> Option<Problem> {
    let status = budget.status.as_ref()?;
    let is_current = status.observed_generation >= budget.metadata.generation;
    let healthy = status.current_healthy.unwrap_or_default();
    let blocks = is_current && status.disruptions_allowed.unwrap_or_default() == 0 && healthy > 0 && healthy >= ready;
    let message = "the disruption budget allows no eviction, so that drains wait until more agents are ready";
    blocks.then(|| Problem { reason: reason::BUDGET_BLOCKS, message: message.to_owned() })
}
