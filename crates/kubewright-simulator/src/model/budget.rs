//! The arithmetic of PodDisruptionBudgets.

use k8s_openapi::{api::policy::v1::PodDisruptionBudgetSpec, apimachinery::pkg::util::intstr::IntOrString};

use super::int_or_percent::{Round, resolve};

/// The numbers of pods of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) expected: i32,
    pub(crate) desired_healthy: i32,
}

/// Returns whether the expected number of pods is that of the workloads that control them, and not the number of pods.
pub(crate) fn needs_scale(spec: &PodDisruptionBudgetSpec) -> bool {
    spec.max_unavailable.is_some() || matches!(spec.min_available, Some(IntOrString::String(_)))
}

/// Returns the counts of a budget for this number of expected pods.
pub(crate) fn counts(spec: &PodDisruptionBudgetSpec, expected: i32) -> Counts {
    let desired_healthy = match (&spec.max_unavailable, &spec.min_available) {
        (Some(max_unavailable), _) => expected - resolve(max_unavailable, expected, Round::Up),
        (None, Some(min_available)) => resolve(min_available, expected, Round::Up),
        (None, None) => 0,
    };
    Counts { expected, desired_healthy: desired_healthy.max(0) }
}

/// Returns how many pods can be disrupted.
pub(crate) fn disruptions_allowed(counts: Counts, current_healthy: i32) -> i32 {
    match counts.expected {
        ..=0 => 0,
        _ => (current_healthy - counts.desired_healthy).max(0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(spec: Value) -> PodDisruptionBudgetSpec {
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn disruptions_are_allowed_down_to_the_desired_number() {
        for (budget, expected, healthy, allowed) in [
            (json!({"minAvailable": 2}), 3, 3, 1),
            (json!({"minAvailable": 2}), 3, 2, 0),
            (json!({"minAvailable": "50%"}), 3, 3, 1),
            (json!({"maxUnavailable": 1}), 3, 3, 1),
            (json!({"maxUnavailable": "50%"}), 3, 3, 2),
            (json!({"maxUnavailable": 1}), 3, 2, 0),
            (json!({"maxUnavailable": 1}), 0, 0, 0),
        ] {
            let counts = counts(&spec(budget.clone()), expected);
            assert_eq!(disruptions_allowed(counts, healthy), allowed, "{budget}");
        }
    }
}
