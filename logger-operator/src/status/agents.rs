//! The agents of a Logger, as their Pods report them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};

use super::Problem;
use crate::{
    readiness::{Report, Reports},
    reason::{self, shorten},
};

/// Why a container waits if its image cannot be pulled. The kubelet alternates between the first two.
const IMAGE_REASONS: [&str; 4] = ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"];
/// Why a container waits if it cannot be started, or ended repeatedly.
const CRASH_REASONS: [&str; 4] =
    ["CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"];
/// The number of restarts after which a container that is not ready is reported, also while it runs. Otherwise, the
/// report would change with each restart.
const CRASH_RESTARTS: i32 = 3;
/// The maximum number of characters of an error of an agent in a message.
const MAX_ERROR: usize = 200;
/// The maximum number of characters of a report about a file: the name of a file has up to 255.
const MAX_REPORT: usize = 400;

/// The ready agents, the problems of the others, and the warnings of all.
pub(super) struct Agents {
    /// The number of agents. Those that are being deleted are not counted.
    pub(super) total: i32,
    /// The number of ready agents.
    pub(super) ready: i32,
    /// One problem for each cause, the most important one first.
    pub(super) problems: Vec<Problem>,
    /// One problem for each kind of warning. The agents can be ready.
    pub(super) warnings: Vec<Problem>,
}

/// Why an agent is not ready.
struct Cause {
    reason: &'static str,
    /// What the agent reports.
    error: Option<String>,
}

impl Agents {
    pub(super) fn new(pods: &[Arc<Pod>], reports: &Reports) -> Self {
        let current: Vec<_> = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect();
        let ready = current.iter().filter(|pod| pod.status.as_ref().is_some_and(is_ready)).count();
        let causes: Vec<_> = current.iter().filter_map(|pod| cause(pod, reports)).collect();
        let problem = |(reason, description): (&'static str, &str)| {
            let same: Vec<_> = causes.iter().filter(|cause| cause.reason == reason).collect();
            // One of the errors, whatever the order of the agents.
            let error = same.iter().filter_map(|cause| cause.error.as_deref()).min();
            let error = error.map(|error| format!(": {error}")).unwrap_or_default();
            let count = same.len();
            (count > 0).then(|| Problem { reason, message: format!("{description}{error} (agents: {count})") })
        };
        let problems = [
            (reason::IMAGE_UNAVAILABLE, "the image cannot be pulled"),
            (reason::AGENT_CRASHES, "the container crashes or cannot be started"),
            (reason::RECORDS_NOT_DURABLE, "records cannot be made durable"),
            (reason::UNSCHEDULABLE, "no node is available"),
        ];
        let problems = problems.into_iter().filter_map(problem).collect();
        let warnings = warnings(&current, reports);
        let [total, ready] = [current.len(), ready].map(|count| i32::try_from(count).unwrap_or(i32::MAX));
        Agents { total, ready, problems, warnings }
    }
}

/// Selects one kind of warning.
type TextOf = fn(&Report) -> Option<&String>;

/// Returns what agents report although their records become durable.
fn warnings(current: &[&Arc<Pod>], reports: &Reports) -> Vec<Problem> {
    let names = current.iter().filter_map(|pod| pod.metadata.name.as_ref());
    let reports: Vec<_> = names.filter_map(|name| reports.get_key_value(name)).collect();
    let kinds: [(&'static str, &str, TextOf); 2] = [
        (reason::CORRUPT_SEGMENT, "records of a file cannot be read, and its other records remain", |report| {
            report.corrupt_segment.as_ref()
        }),
        (reason::CLOCK_STEPPED_BACK, "the clock was set back, and sequence numbers order the records", |report| {
            report.clock_step.as_ref()
        }),
    ];
    let problem = |(reason, description, text_of): (&'static str, &str, TextOf)| {
        let same: Vec<_> = reports.iter().filter_map(|(pod, report)| Some((*pod, text_of(report)?))).collect();
        // One of the reports, whatever the order of the agents.
        let (pod, text) = same.iter().min()?;
        let (text, count) = (shorten(text, MAX_REPORT), same.len());
        Some(Problem { reason, message: format!("{description}: {pod}: {text} (agents: {count})") })
    };
    kinds.into_iter().filter_map(problem).collect()
}

fn is_ready(status: &PodStatus) -> bool {
    let mut conditions = status.conditions.iter().flatten();
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Returns why an agent is not ready, if the cause does not disappear by itself.
fn cause(pod: &Pod, reports: &Reports) -> Option<Cause> {
    let status = pod.status.as_ref().filter(|status| !is_ready(status))?;
    let mut conditions = status.conditions.iter().flatten();
    let is_unschedulable = conditions.any(|condition| {
        let is_false = condition.type_ == "PodScheduled" && condition.status == "False";
        is_false && condition.reason.as_deref() == Some("Unschedulable")
    });
    let containers = status.container_statuses.iter().flatten().find_map(container_cause);
    let reported = || {
        let error = pod.metadata.name.as_ref().and_then(|name| reports.get(name)?.not_durable.as_ref())?;
        Some(Cause { reason: reason::RECORDS_NOT_DURABLE, error: Some(shorten(error, MAX_ERROR)) })
    };
    let unschedulable = || is_unschedulable.then_some(Cause { reason: reason::UNSCHEDULABLE, error: None });
    // Only a container that runs reports: its earlier crashes are less recent.
    reported().or(containers).or_else(unschedulable)
}

fn container_cause(status: &ContainerStatus) -> Option<Cause> {
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
    let waiting = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    if IMAGE_REASONS.contains(&waiting) {
        return Some(Cause { reason: reason::IMAGE_UNAVAILABLE, error: None });
    }
    let is_crashing = CRASH_REASONS.contains(&waiting) || status.restart_count >= CRASH_RESTARTS;
    is_crashing.then(|| Cause { reason: reason::AGENT_CRASHES, error: last_error(status) })
}

/// Returns the last line that a container wrote before it ended with an error.
fn last_error(status: &ContainerStatus) -> Option<String> {
    let states = [&status.state, &status.last_state].into_iter().flatten();
    let message = states.filter_map(|state| state.terminated.as_ref()).find_map(|ended| ended.message.as_deref())?;
    message.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| shorten(line, MAX_ERROR))
}
