//! The workload that runs the agents: a Deployment, a DaemonSet or a StatefulSet, in common terms.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use logger_types::v2::LoggerWorkload;

/// The observed state of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its kind.
    pub kind: LoggerWorkload,
    /// Whether the numbers are those of its current spec.
    pub is_current: bool,
    /// Whether it made no progress within its deadline. Only Deployments have one.
    pub is_stalled: bool,
    /// The desired number of agents.
    pub desired: i32,
    /// The number of agents of all revisions.
    pub replicas: i32,
    /// The number of agents of the current revision.
    pub updated: i32,
    /// The number of available agents.
    pub available: i32,
}

impl Workload {
    /// Returns whether all agents are up to date and available.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let Workload { is_current, is_stalled, desired, replicas, updated, available, .. } = *self;
        is_current && !is_stalled && updated >= desired && replicas <= updated && available >= updated
    }
}

impl From<&Deployment> for Workload {
    fn from(deployment: &Deployment) -> Self {
        let status = deployment.status.clone().unwrap_or_default();
        let mut conditions = status.conditions.iter().flatten();
        let is_stalled = conditions.any(|condition| {
            condition.type_ == "Progressing" && condition.reason.as_deref() == Some("ProgressDeadlineExceeded")
        });
        Workload {
            kind: LoggerWorkload::Deployment,
            is_current: status.observed_generation >= deployment.metadata.generation,
            is_stalled,
            desired: deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1),
            replicas: status.replicas.unwrap_or_default(),
            updated: status.updated_replicas.unwrap_or_default(),
            available: status.available_replicas.unwrap_or_default(),
        }
    }
}

impl From<&DaemonSet> for Workload {
    fn from(daemon_set: &DaemonSet) -> Self {
        let status = daemon_set.status.clone().unwrap_or_default();
        Workload {
            kind: LoggerWorkload::DaemonSet,
            // Without a status, the number of nodes is unknown.
            is_current: daemon_set.status.is_some() && status.observed_generation >= daemon_set.metadata.generation,
            is_stalled: false,
            desired: status.desired_number_scheduled,
            replicas: status.current_number_scheduled,
            updated: status.updated_number_scheduled.unwrap_or_default(),
            available: status.number_available.unwrap_or_default(),
        }
    }
}

impl From<&StatefulSet> for Workload {
    fn from(stateful_set: &StatefulSet) -> Self {
        let status = stateful_set.status.clone().unwrap_or_default();
        Workload {
            kind: LoggerWorkload::StatefulSet,
            is_current: status.observed_generation >= stateful_set.metadata.generation,
            is_stalled: false,
            desired: stateful_set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1),
            replicas: status.replicas,
            updated: status.updated_replicas.unwrap_or_default(),
            available: status.available_replicas.unwrap_or_default(),
        }
    }
}
