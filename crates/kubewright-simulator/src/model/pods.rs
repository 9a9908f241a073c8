//! The state of pods: phase, conditions, availability, and the order in which a controller deletes them.

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::{Pod, PodCondition, PodTemplateSpec},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time},
};
use kube::{Resource, ResourceExt};
use kubewright_runtime::object::ApiObject;

use super::clock::{Clock, seconds};

pub(crate) const READY: &str = "Ready";
/// The annotation that orders deletions: pods with lower costs are deleted first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending")
}

pub(crate) fn node_name(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty())
}

pub(crate) fn restart_policy(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()).unwrap_or("Always")
}

/// Returns whether all containers ended and are not restarted.
pub(crate) fn has_finished(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

pub(crate) fn is_terminating<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

/// Returns whether a pod counts as a replica: it has not finished and is not being deleted.
pub(crate) fn is_active(pod: &Pod) -> bool {
    !has_finished(pod) && !is_terminating(pod)
}

pub(crate) fn condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == type_)
}

pub(crate) fn is_ready(pod: &Pod) -> bool {
    condition(pod, READY).is_some_and(|ready| ready.status == "True")
}

/// Returns the time since which a pod is ready.
fn ready_since(pod: &Pod) -> Option<&Time> {
    condition(pod, READY).filter(|ready| ready.status == "True")?.last_transition_time.as_ref()
}

/// Returns whether a pod has been ready for at least this number of seconds.
pub(crate) fn is_available(pod: &Pod, min_ready_seconds: Option<i32>, clock: &Clock) -> bool {
    let min_ready = seconds(min_ready_seconds.unwrap_or_default());
    is_ready(pod)
        && (min_ready.is_zero() || ready_since(pod).is_some_and(|since| clock.remaining(since, min_ready).is_none()))
}

/// Returns after which time the next of these pods becomes available; `None` if none is only waiting for that.
pub(crate) fn next_availability<'a>(
    pods: impl IntoIterator<Item = &'a Arc<Pod>>,
    min_ready_seconds: Option<i32>,
    clock: &Clock,
) -> Option<Duration> {
    let min_ready = seconds(min_ready_seconds.unwrap_or_default());
    let waiting = pods.into_iter().filter_map(|pod| clock.remaining(ready_since(pod)?, min_ready));
    waiting.min().map(|remaining| remaining + Duration::from_millis(1))
}

/// Returns the reference to the controller of an object.
pub(crate) fn controller_of<K: Resource>(object: &K) -> Option<&OwnerReference> {
    object.meta().owner_references.as_ref()?.iter().find(|owner| owner.controller == Some(true))
}

/// Returns whether a DaemonSet controls a pod, so that a drain ignores it.
pub(crate) fn is_daemon(pod: &Pod) -> bool {
    controller_of(pod).is_some_and(|owner| owner.kind == "DaemonSet")
}

/// Returns the reference of an object as the controller of its children, which blocks its deletion in the foreground.
pub(crate) fn controller_reference<O: ApiObject>(owner: &O) -> Option<OwnerReference> {
    let reference = owner.controller_owner_ref(&())?;
    Some(OwnerReference { block_owner_deletion: Some(true), ..reference })
}

/// Returns a pod of a template, with a generated name.
pub(crate) fn from_template<O: ApiObject>(template: &PodTemplateSpec, owner: &O) -> Pod {
    let metadata = template.metadata.clone().unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", owner.name_any())),
            namespace: owner.namespace(),
            labels: metadata.labels,
            annotations: metadata.annotations,
            finalizers: metadata.finalizers,
            owner_references: controller_reference(owner).map(|reference| vec![reference]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    }
}

/// Sorts pods so that those to be deleted are first, as kube-controller-manager does: not assigned, not running, not
/// ready, a low deletion cost, many pods on the same node, ready for a short time, many restarts, young.
pub(crate) fn sort_for_deletion(pods: &mut [Arc<Pod>]) {
    let mut per_node: HashMap<String, usize> = HashMap::new();
    for node in pods.iter().filter_map(|pod| node_name(pod)) {
        *per_node.entry(node.to_owned()).or_default() += 1;
    }
    pods.sort_by_cached_key(|pod| {
        let on_node = node_name(pod).and_then(|node| per_node.get(node)).copied().unwrap_or_default();
        (
            node_name(pod).is_some(),
            phase(pod) == "Running",
            is_ready(pod),
            deletion_cost(pod),
            Reverse(on_node),
            Reverse(ready_since(pod).cloned()),
            Reverse(restarts(pod)),
            Reverse(pod.metadata.creation_timestamp.clone()),
        )
    });
}

fn deletion_cost(pod: &Pod) -> i32 {
    pod.annotations().get(DELETION_COST).and_then(|cost| cost.parse().ok()).unwrap_or_default()
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    statuses.map(|status| status.restart_count).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, node: Option<&str>, status: Value) -> Arc<Pod> {
        let pod = json!({
            "metadata": {"name": name}, "spec": {"containers": [], "nodeName": node}, "status": status,
        });
        Arc::new(serde_json::from_value(pod).unwrap())
    }

    fn ready(since: &str) -> Value {
        json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]})
    }

    #[test]
    fn pods_without_a_node_and_pods_that_are_not_ready_are_deleted_first() {
        let mut pods = [
            pod("old", Some("a"), ready("2026-01-01T00:00:00Z")),
            pod("young", Some("b"), ready("2026-01-02T00:00:00Z")),
            pod("doubled", Some("c"), ready("2026-01-01T00:00:00Z")),
            pod("running", Some("c"), json!({"phase": "Running"})),
            pod("pending", Some("d"), json!({"phase": "Pending"})),
            pod("unassigned", None, json!({"phase": "Pending"})),
        ];
        sort_for_deletion(&mut pods);
        let names: Vec<_> = pods.iter().map(|pod| pod.name_any()).collect();
        assert_eq!(names, ["unassigned", "pending", "running", "doubled", "young", "old"]);
    }

    #[test]
    fn finished_and_terminating_pods_are_not_active() {
        assert!(is_active(&pod("a", None, json!({"phase": "Pending"}))));
        assert!(!is_active(&pod("a", None, json!({"phase": "Failed"}))));
        let mut terminating = Pod::clone(&pod("a", None, json!({"phase": "Running"})));
        terminating.metadata.deletion_timestamp = Some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
        assert!(!is_active(&terminating));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pod_is_available_after_min_ready_seconds() {
        let clock = Clock::start();
        let status = json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": clock.time()}]});
        let pod = pod("a", Some("n"), status);
        assert!(is_available(&pod, None, &clock) && !is_available(&pod, Some(10), &clock));
        let wait = next_availability([&pod], Some(10), &clock).unwrap();
        tokio::time::advance(wait).await;
        assert!(is_available(&pod, Some(10), &clock));
        assert_eq!(next_availability([&pod], Some(10), &clock), None);
    }
}
