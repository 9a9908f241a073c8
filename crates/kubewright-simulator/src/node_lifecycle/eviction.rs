//! The eviction of pods: from nodes with taints that they do not tolerate, and of pods whose node no longer exists.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use kubewright_runtime::{Preconditions, Store};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::{
    environment::{Environment, Recorder},
    model::{
        pods::{self, is_terminating},
        taints::{Tolerance, tolerance},
    },
};

/// The maximum time between two checks.
const PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be missing until its pods are deleted, as `quarantineTime` of the pod garbage collector.
const QUARANTINE: Duration = Duration::from_secs(40);
/// After which time a failed deletion is retried.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Evicts pods. Returns only if the informers have stopped.
pub(super) async fn run(environment: &Environment) {
    let (nodes, pods) = (environment.nodes(), environment.pods());
    let (Ok(mut node_events), Ok(mut pod_events)) = (nodes.events(), pods.events()) else { return };
    let mut evictor = Evictor {
        environment: environment.clone(),
        events: environment.recorder("taint-eviction-controller"),
        nodes: nodes.store(),
        pods: pods.store(),
        tainted: HashMap::new(),
        missing: HashMap::new(),
    };
    let mut next = Instant::now();
    loop {
        tokio::select! {
            biased;
            Some(_) = node_events.next() => {}
            Some(_) = pod_events.next() => {}
            () = sleep_until(next) => {}
        }
        // One check for all pending events.
        while node_events.next().now_or_never().flatten().is_some() {}
        while pod_events.next().now_or_never().flatten().is_some() {}
        next = evictor.check(nodes.has_synced()).await;
    }
}

struct Evictor {
    environment: Environment,
    events: Recorder,
    nodes: Store<Node>,
    pods: Store<Pod>,
    /// When each pod was seen on a tainted node first, by UID.
    tainted: HashMap<String, Instant>,
    /// When each node of a pod was missing first, by name.
    missing: HashMap<String, Instant>,
}

impl Evictor {
    /// Evicts the pods whose toleration has ended. Returns when the next one does.
    async fn check(&mut self, knows_nodes: bool) -> Instant {
        let now = Instant::now();
        let mut next = now + PERIOD;
        let (mut seen, mut missing) = (HashSet::new(), HashSet::new());
        for pod in self.pods.list() {
            let (Some(name), Some(uid)) = (pods::node_name(&pod), pod.uid()) else { continue };
            let Some(node) = self.nodes.get("", name) else {
                if knows_nodes {
                    let due = *self.missing.entry(name.to_owned()).or_insert(now) + QUARANTINE;
                    missing.insert(name.to_owned());
                    match due <= now {
                        true => self.collect(&pod).await,
                        false => next = next.min(due),
                    }
                }
                continue;
            };
            let Tolerance::For(tolerance) = tolerance(&pod, &node) else { continue };
            if is_terminating(&*pod) {
                continue;
            }
            let since = *self.tainted.entry(uid.clone()).or_insert(now);
            seen.insert(uid);
            let due = since + tolerance;
            if due <= now && !self.evict(&pod).await {
                next = next.min(now + RETRY_INTERVAL);
            } else if due > now {
                next = next.min(due);
            }
        }
        self.tainted.retain(|uid, _| seen.contains(uid));
        self.missing.retain(|name, _| missing.contains(name));
        next
    }

    /// Deletes a pod because of a taint. Returns whether it is deleted.
    async fn evict(&self, pod: &Arc<Pod>) -> bool {
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": self.environment.clock.time(), "observedGeneration": pod.metadata.generation,
        });
        let patch = Patch::Strategic(json!({"metadata": {"uid": pod.uid()}, "status": {"conditions": [condition]}}));
        let api = self.api(pod);
        let marked = api.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await.map(drop);
        if !is_done(&marked) || !self.delete(pod, DeleteParams::default()).await {
            return false;
        }
        let note = format!("Marking for deletion Pod {}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
        self.events.normal(&**pod, "TaintManagerEviction", note);
        true
    }

    /// Removes a pod whose node does not exist: no kubelet will.
    async fn collect(&self, pod: &Arc<Pod>) {
        let params = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
        self.delete(pod, params).await;
    }

    async fn delete(&self, pod: &Pod, params: DeleteParams) -> bool {
        let params = Preconditions::uid(pod).apply_to(params);
        is_done(&self.api(pod).delete(&pod.name_any(), &params).await.map(drop))
    }

    fn api(&self, pod: &Pod) -> Api<Pod> {
        Api::namespaced(self.environment.client.clone(), &pod.namespace().unwrap_or_default())
    }
}

/// Returns whether a write succeeded, or is not needed anymore.
fn is_done(written: &kube::Result<()>) -> bool {
    match written {
        Ok(()) => true,
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => true,
        Err(error) => {
            tracing::warn!(%error, "cannot evict a pod; it is retried");
            false
        }
    }
}
