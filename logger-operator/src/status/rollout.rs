//! The rollout of the agents, as their workload reports it.

use super::{Problem, Workload};
use crate::reason;

/// The state of a rollout, by the rules of `kubectl rollout status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rollout {
    /// There is no workload.
    Missing,
    /// Agents are created or replaced.
    Running,
    /// The workload made no progress within its deadline.
    Stalled,
    /// All agents are up to date and available.
    Complete,
}

impl Rollout {
    pub(super) fn new(workload: Option<Workload>) -> Self {
        match workload {
            None => Rollout::Missing,
            Some(workload) if workload.is_complete() => Rollout::Complete,
            Some(workload) if workload.is_current && workload.is_stalled => Rollout::Stalled,
            Some(_) => Rollout::Running,
        }
    }

    pub(super) fn problem(self) -> Option<Problem> {
        let message = "the rollout of the agents exceeded its progress deadline".to_owned();
        let reason = reason::PROGRESS_DEADLINE_EXCEEDED;
        (self == Rollout::Stalled).then_some(Problem { reason, message })
    }
}
