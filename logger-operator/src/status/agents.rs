//! The agents of a Logger, as their Pods report them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};

use super::Problem;
use crate::reason;

/// Why a container waits if its image cannot be pulled. The kubelet alternates between the first two.
const IMAGE_REASONS: [&str; 4] = ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"];
/// Why a container waits if it cannot be started, or ended repeatedly.
const CRASH_REASONS: [&str; 4] =
    ["CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"];
/// The number of restarts after which a container that is not ready is reported, also while it runs. Otherwise, the
/// report would change with each restart.
const CRASH_RESTARTS: i32 = 3;

/// The ready agents, and the problems of the others.
pub(super) struct Agents {
    /// The number of ready agents. Agents that are being deleted are not counted.
    pub(super) ready: i32,
    /// One problem for each cause, the most important one first.
    pub(super) problems: Vec<Problem>,
}

impl Agents {
    pub(super) fn of(pods: &[Arc<Pod>]) -> Self {
        let current: Vec<_> = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect();
        let ready = current.iter().filter(|pod| pod.status.as_ref().is_some_and(is_ready)).count();
        let causes: Vec<_> = current.iter().filter_map(|pod| cause(pod.status.as_ref()?)).collect();
        let problem = |(reason, description): (&'static str, &str)| {
            let count = causes.iter().filter(|cause| **cause == reason).count();
            (count > 0).then(|| Problem { reason, message: format!("{description} (agents: {count})") })
        };
        let problems = [
            (reason::IMAGE_UNAVAILABLE, "the image cannot be pulled"),
            (reason::AGENT_CRASHES, "the container crashes or cannot be started"),
            (reason::UNSCHEDULABLE, "no node is available"),
        ];
        let problems = problems.into_iter().filter_map(problem).collect();
        Agents { ready: i32::try_from(ready).unwrap_or(i32::MAX), problems }
    }
}

fn is_ready(status: &PodStatus) -> bool {
    let mut conditions = status.conditions.iter().flatten();
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Returns why an agent is not ready, if the cause does not disappear by itself.
fn cause(status: &PodStatus) -> Option<&'static str> {
    if is_ready(status) {
        return None;
    }
    let mut conditions = status.conditions.iter().flatten();
    let is_unschedulable = conditions.any(|condition| {
        let is_false = condition.type_ == "PodScheduled" && condition.status == "False";
        is_false && condition.reason.as_deref() == Some("Unschedulable")
    });
    let containers = status.container_statuses.iter().flatten().find_map(container_cause);
    containers.or_else(|| is_unschedulable.then_some(reason::UNSCHEDULABLE))
}

fn container_cause(status: &ContainerStatus) -> Option<&'static str> {
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
    let waiting = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    if IMAGE_REASONS.contains(&waiting) {
        return Some(reason::IMAGE_UNAVAILABLE);
    }
    let is_crashing = CRASH_REASONS.contains(&waiting) || status.restart_count >= CRASH_RESTARTS;
    is_crashing.then_some(reason::AGENT_CRASHES)
}
