//! The status of a Logger: a pure function of the observed workload, Pods and PodDisruptionBudget.

mod agents;
mod disruption;
mod rollout;
mod workload;

use std::sync::Arc;

use k8s_openapi::{
    api::{core::v1::Pod, policy::v1::PodDisruptionBudget},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kubewright_core::{Conditions, new_condition};
use logger_types::v2::{Logger, LoggerState, LoggerStatus, LoggerWorkload};

use crate::{
    children::{desired_replicas, workload_kind},
    names::Names,
    readiness::Reports,
    reason,
};
use agents::Agents;
use rollout::Rollout;

pub use workload::Workload;

/// The condition that at least one agent is ready, so that it has persisted records recently.
pub const AVAILABLE: &str = "Available";
/// The condition that agents are created or replaced.
pub const PROGRESSING: &str = "Progressing";
/// The condition that a problem is observed, or that a failure of one agent would stop the log.
pub const DEGRADED: &str = "Degraded";
/// The types of the conditions that the operator sets.
pub const CONDITIONS: [&str; 3] = [AVAILABLE, PROGRESSING, DEGRADED];

/// The reasons of problems that do not make an agent unready. They follow all others.
const HARMLESS: [&str; 3] = [reason::CORRUPT_SEGMENT, reason::CLOCK_STEPPED_BACK, reason::SINGLE_REPLICA];

/// A problem, for conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// One of the [reasons](crate::reason).
    pub reason: &'static str,
    /// The description for people. It contains no value that changes without a change of the problem.
    pub message: String,
}

/// What a status is computed from.
#[derive(Clone, Debug, Default)]
pub struct Observed<'a> {
    /// Why the children could not be applied.
    pub problem: Option<Problem>,
    /// The desired workload of the Logger, if it exists.
    pub workload: Option<Workload>,
    /// The PodDisruptionBudget of the Logger, if it exists.
    pub disruption_budget: Option<&'a PodDisruptionBudget>,
    /// The agents of the Logger, in any state, also those of a former workload.
    pub pods: &'a [Arc<Pod>],
    /// What agents report.
    pub reports: Reports,
}

/// Computes the status of a Logger.
///
/// Guarantees:
/// - a Logger is available if and only if an agent is ready, whatever is desired or declared;
/// - the numbers of replicas are those of the Pods, except for the updated ones, which the workload reports;
/// - the status is equal to that of the Logger if nothing relevant has changed: it contains no time but those of the
///   transitions of conditions;
/// - conditions of other types are retained.
#[must_use]
pub fn observe(logger: &Logger, observed: &Observed<'_>) -> LoggerStatus {
    let view = View::new(logger, observed);
    let mut conditions = logger.status.as_ref().and_then(|status| status.conditions.clone());
    let (available, progressing, degraded) = (view.available(), view.progressing(), view.degraded());
    for (type_, Finding { status, reason, message }) in CONDITIONS.into_iter().zip([available, progressing, degraded]) {
        conditions.set_condition(new_condition(&logger.metadata, type_, status, reason, message));
    }
    LoggerStatus {
        state: Some(if view.agents.ready > 0 { LoggerState::Available } else { LoggerState::Unavailable }),
        observed_generation: logger.metadata.generation,
        workload: observed.workload.map(|workload| workload.kind),
        desired_replicas: view.desired,
        replicas: Some(view.agents.total),
        ready_replicas: Some(view.agents.ready),
        updated_replicas: observed.workload.filter(|workload| workload.is_current).map(|workload| workload.updated),
        selector: Some(Names::new(logger).selector()),
        conditions,
    }
}

/// Returns the conditions whose status or reason has changed, for events. A condition without an earlier status is only
/// returned if it is true.
#[must_use]
pub fn transitions<'a>(before: Option<&LoggerStatus>, after: &'a LoggerStatus) -> Vec<&'a Condition> {
    let before = before.map(|status| &status.conditions);
    let has_changed = |condition: &&Condition| match before.and_then(|all| all.condition(&condition.type_)) {
        Some(old) => (&old.status, &old.reason) != (&condition.status, &condition.reason),
        None => condition.status == "True",
    };
    let conditions =
        after.conditions.iter().flatten().filter(|condition| CONDITIONS.contains(&condition.type_.as_str()));
    conditions.filter(has_changed).collect()
}

/// Returns whether a condition needs attention, for the type of its event.
#[must_use]
pub fn is_warning(condition: &Condition) -> bool {
    match condition.type_.as_str() {
        AVAILABLE => condition.status != "True" && condition.reason != reason::NO_REPLICAS,
        DEGRADED => condition.status == "True",
        _ => condition.reason == reason::PROGRESS_DEADLINE_EXCEEDED,
    }
}

/// The status, reason and message of a condition.
struct Finding {
    status: bool,
    reason: &'static str,
    message: String,
}

/// What is observed, in the terms of the conditions.
struct View {
    /// The desired number of agents; unknown until a DaemonSet reports the number of nodes.
    desired: Option<i32>,
    agents: Agents,
    rollout: Rollout,
    /// Why the children could not be applied.
    rejection: Option<Problem>,
    /// The problems, the most important one first.
    problems: Vec<Problem>,
}

impl View {
    fn new(logger: &Logger, observed: &Observed<'_>) -> Self {
        let (desired, agents) = (desired_agents(logger, observed), Agents::new(observed.pods, &observed.reports));
        let rollout = Rollout::new(observed.workload);
        let mut problems: Vec<_> = observed.problem.iter().cloned().chain(agents.problems.iter().cloned()).collect();
        problems.extend(rollout.problem());
        let is_stalled = !agents.problems.is_empty() || rollout == Rollout::Stalled || Some(agents.ready) >= desired;
        problems.extend(
            observed
                .disruption_budget
                .filter(|_| is_stalled)
                .and_then(|budget| disruption::problem(budget, agents.ready)),
        );
        problems.extend(agents.warnings.iter().cloned());
        problems.extend(desired.and_then(|desired| redundancy(desired, workload_kind(&logger.spec))));
        View { desired, agents, rollout, rejection: observed.problem.clone(), problems }
    }

    fn available(&self) -> Finding {
        let message = match self.desired {
            Some(desired) => format!("{} of {desired} agents are ready", self.agents.ready),
            None => format!("{} agents are ready", self.agents.ready),
        };
        let reason = match self.problems.first() {
            _ if self.agents.ready > 0 => reason::AGENTS_READY,
            _ if self.desired == Some(0) => reason::NO_REPLICAS,
            Some(problem) if !HARMLESS.contains(&problem.reason) => problem.reason,
            _ => reason::AGENTS_NOT_READY,
        };
        Finding { status: self.agents.ready > 0, reason, message }
    }

    fn progressing(&self) -> Finding {
        let (status, reason, message) = match (self.rollout, &self.rejection) {
            (Rollout::Missing, Some(problem)) => (false, problem.reason, problem.message.clone()),
            (Rollout::Stalled, _) => {
                (false, reason::PROGRESS_DEADLINE_EXCEEDED, "the rollout of the agents made no progress".to_owned())
            }
            (Rollout::Complete, _) => {
                (false, reason::ROLLOUT_COMPLETE, "all agents are up to date and available".to_owned())
            }
            (Rollout::Missing | Rollout::Running, _) => {
                (true, reason::ROLLING_OUT, "agents are created or replaced".to_owned())
            }
        };
        Finding { status, reason, message }
    }

    fn degraded(&self) -> Finding {
        let Some(first) = self.problems.first() else {
            let message = "no problem is observed".to_owned();
            return Finding { status: false, reason: reason::AS_DESIRED, message };
        };
        let messages: Vec<_> = self.problems.iter().map(|problem| problem.message.as_str()).collect();
        Finding { status: true, reason: first.reason, message: messages.join("; ") }
    }
}

/// Returns the desired number of agents: that of the nodes, if an agent runs on each.
fn desired_agents(logger: &Logger, observed: &Observed<'_>) -> Option<i32> {
    match workload_kind(&logger.spec) {
        LoggerWorkload::Deployment | LoggerWorkload::StatefulSet => Some(desired_replicas(logger)),
        kind @ LoggerWorkload::DaemonSet => {
            let workload = observed.workload.filter(|workload| workload.kind == kind && workload.is_current);
            workload.map(|workload| workload.desired)
        }
    }
}

/// Returns the problem that too few agents are desired.
fn redundancy(desired: i32, kind: LoggerWorkload) -> Option<Problem> {
    let solution = match kind {
        LoggerWorkload::Deployment | LoggerWorkload::StatefulSet => "set spec.replicas to 2 or more",
        LoggerWorkload::DaemonSet => "add nodes on which agents can run",
    };
    let (reason, message) = match desired {
        0 => (reason::NO_REPLICAS, "no agent is desired, so that nothing is recorded"),
        1 => {
            let message = "one agent is desired, so that no other one records activity while it is replaced";
            (reason::SINGLE_REPLICA, message)
        }
        _ => return None,
    };
    Some(Problem { reason, message: format!("{message}; {solution}") })
}
