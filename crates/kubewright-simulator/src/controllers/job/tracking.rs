//! Counting of the pods of a Job: each one is counted once, also if it is deleted, as a finalizer retains it until
//! then.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::{
    api::{
        batch::v1::{JobStatus, UncountedTerminatedPods},
        core::v1::{ContainerStatus, Pod},
    },
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{
    ResourceExt,
    api::{Patch, PatchParams},
};
use kubewright_runtime::{Error, ReconcileContext};
use serde_json::json;

use super::{INDEX, State};
use crate::model::pods::{has_finished, is_terminating, phase};

/// The finalizer of pods that are not counted yet.
pub(super) const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// The pods that a status counts, and whose finalizer can be removed once that status is stored.
pub(super) struct Tracked {
    counted: Vec<Arc<Pod>>,
}

impl Tracked {
    /// Adds pods that ended to the counts of a status, unless they are in them already. A pod that is deleted before it
    /// ended has failed once it does not run anymore.
    pub(super) fn count(status: &mut JobStatus, owned: &[Arc<Pod>], is_indexed: bool) -> Self {
        let tracked: Vec<_> = owned.iter().filter(|pod| is_tracked(pod)).cloned().collect();
        let uids: BTreeSet<String> = tracked.iter().filter_map(|pod| pod.uid()).collect();
        let mut uncounted = status.uncounted_terminated_pods.take().unwrap_or_default();
        // Pods without the finalizer are counted for good.
        for list in [&mut uncounted.succeeded, &mut uncounted.failed].into_iter().flatten() {
            list.retain(|uid| uids.contains(uid));
        }
        let mut completed: BTreeSet<i32> =
            parse_indexes(status.completed_indexes.as_deref().unwrap_or_default()).into_iter().collect();
        let ended: Vec<_> = tracked.into_iter().filter(|pod| has_ended(pod)).collect();
        for pod in &ended {
            let (uid, has_succeeded) = (pod.uid().unwrap_or_default(), phase(pod) == "Succeeded");
            let (list, number) = match has_succeeded {
                true => (&mut uncounted.succeeded, &mut status.succeeded),
                false => (&mut uncounted.failed, &mut status.failed),
            };
            let list = list.get_or_insert_default();
            if list.contains(&uid) {
                continue;
            }
            list.push(uid);
            // Each index of an indexed job is counted once.
            let is_new = !(is_indexed && has_succeeded) || index(pod).is_some_and(|index| completed.insert(index));
            *number = Some(number.unwrap_or_default() + i32::from(is_new));
        }
        if is_indexed {
            status.completed_indexes = Some(format_indexes(&completed)).filter(|text| !text.is_empty());
        }
        let non_empty = |list: Option<Vec<String>>| list.filter(|list| !list.is_empty());
        status.uncounted_terminated_pods = Some(UncountedTerminatedPods {
            succeeded: non_empty(uncounted.succeeded),
            failed: non_empty(uncounted.failed),
        });
        Tracked { counted: ended }
    }

    /// Returns whether no pod waits for its finalizer to be removed.
    pub(super) fn is_released(&self) -> bool {
        self.counted.is_empty()
    }

    /// Removes the finalizers of the counted pods.
    pub(super) async fn release(&self, context: &ReconcileContext<State>) -> Result<(), Error> {
        release(&self.counted, context).await
    }
}

/// Removes the finalizers of all pods of a job that has ended.
pub(super) async fn release_all(owned: &[Arc<Pod>], context: &ReconcileContext<State>) -> Result<(), Error> {
    let tracked: Vec<_> = owned.iter().filter(|pod| is_tracked(pod)).cloned().collect();
    release(&tracked, context).await
}

async fn release(pods: &[Arc<Pod>], context: &ReconcileContext<State>) -> Result<(), Error> {
    for pod in pods {
        let finalizers: Vec<_> = pod.finalizers().iter().filter(|finalizer| *finalizer != FINALIZER).collect();
        let metadata = json!({"uid": pod.uid(), "resourceVersion": pod.resource_version(), "finalizers": finalizers});
        let patch = Patch::Merge(json!({"metadata": metadata}));
        match context.typed::<Pod>().patch(&pod.name_any(), &patch, &PatchParams::default()).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn is_tracked(pod: &Pod) -> bool {
    pod.finalizers().iter().any(|finalizer| finalizer == FINALIZER)
}

fn has_ended(pod: &Pod) -> bool {
    // A pod without a node, or whose grace period is over, does not run anymore.
    has_finished(pod) || is_terminating(pod) && pod.metadata.deletion_grace_period_seconds.unwrap_or_default() == 0
}

/// Returns the completion index of a pod.
pub(super) fn index(pod: &Pod) -> Option<i32> {
    pod.annotations().get(INDEX)?.parse().ok()
}

/// Returns how often the containers of a pod restarted.
pub(super) fn restarts(pod: &Pod) -> i32 {
    let restarts = |statuses: &Option<Vec<ContainerStatus>>| {
        statuses.iter().flatten().map(|status| status.restart_count).sum::<i32>()
    };
    pod.status
        .as_ref()
        .map_or(0, |status| restarts(&status.init_container_statuses) + restarts(&status.container_statuses))
}

/// Returns the time at which the last container of a pod ended.
pub(super) fn finished_at(pod: &Pod) -> Option<Time> {
    let statuses = pod.status.as_ref()?.container_statuses.iter().flatten();
    statuses.filter_map(|status| status.state.as_ref()?.terminated.as_ref()?.finished_at.clone()).max()
}

/// Parses indexes such as `0-2,5`.
pub(super) fn parse_indexes(text: &str) -> Vec<i32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<i32>().ok()?..=last.parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Formats indexes such as `0-2,5`.
fn format_indexes(indexes: &BTreeSet<i32>) -> String {
    let mut ranges: Vec<(i32, i32)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let text = |(first, last): &(i32, i32)| match first == last {
        true => first.to_string(),
        // Go writes two neighbours as two indexes.
        false if first + 1 == *last => format!("{first},{last}"),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str, phase: &str, index: i32) -> Arc<Pod> {
        let metadata = json!({
            "name": uid, "uid": uid, "finalizers": [FINALIZER], "annotations": {(INDEX): index.to_string()},
        });
        Arc::new(serde_json::from_value(json!({"metadata": metadata, "status": {"phase": phase}})).unwrap())
    }

    #[test]
    fn indexes_round_trip() {
        for text in ["", "3", "0,1", "0-2,5", "0-2,5,6,9"] {
            assert_eq!(format_indexes(&parse_indexes(text).into_iter().collect()), text);
        }
    }

    #[test]
    fn a_pod_is_counted_once() {
        let pods = [pod("a", "Succeeded", 0), pod("b", "Failed", 1), pod("c", "Running", 2), pod("d", "Succeeded", 0)];
        let mut status = JobStatus::default();
        for _ in 0..2 {
            let tracked = Tracked::count(&mut status, &pods, true);
            assert_eq!((status.succeeded, status.failed), (Some(1), Some(1)));
            assert!(!tracked.is_released());
        }
        assert_eq!(status.completed_indexes.as_deref(), Some("0"));
        let tracked = Tracked::count(&mut status, &[], true);
        assert!(tracked.is_released() && status.uncounted_terminated_pods.unwrap().succeeded.is_none());
    }
}
