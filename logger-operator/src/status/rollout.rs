//! The rollout of the agents, as the Deployment reports it.

use k8s_openapi::api::apps::v1::Deployment;

use super::Problem;
use crate::reason;

/// The state of a rollout, by the rules of `kubectl rollout status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rollout {
    /// There is no Deployment.
    Missing,
    /// Agents are created or replaced.
    Running,
    /// The Deployment made no progress within its deadline.
    Stalled,
    /// All agents are up to date and available.
    Complete,
}

impl Rollout {
    pub(super) fn of(deployment: Option<&Deployment>) -> Self {
        let Some(deployment) = deployment else { return Rollout::Missing };
        let status = deployment.status.clone().unwrap_or_default();
        if status.observed_generation < deployment.metadata.generation {
            return Rollout::Running;
        }
        let mut conditions = status.conditions.iter().flatten();
        let is_stalled = conditions.any(|condition| {
            condition.type_ == "Progressing" && condition.reason.as_deref() == Some("ProgressDeadlineExceeded")
        });
        let desired = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
        let [all, updated, available] = [status.replicas, status.updated_replicas, status.available_replicas];
        let [all, updated, available] = [all, updated, available].map(Option::unwrap_or_default);
        match updated < desired || all > updated || available < updated {
            _ if is_stalled => Rollout::Stalled,
            true => Rollout::Running,
            false => Rollout::Complete,
        }
    }

    pub(super) fn problem(self) -> Option<Problem> {
        let message = "the rollout of the agents exceeded its progress deadline".to_owned();
        let reason = reason::PROGRESS_DEADLINE_EXCEEDED;
        (self == Rollout::Stalled).then_some(Problem { reason, message })
    }
}
