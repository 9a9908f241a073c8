//! The worker of one pod: it runs the containers, publishes the status, and completes the deletion.

use std::{future::pending, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use kubewright_runtime::Preconditions;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    container,
    node_context::NodeContext,
    pod_context::PodContext,
    records::Records,
    status::{self, Addresses},
};
use crate::model::{
    clock::seconds,
    pods::{has_finished, is_terminating},
};

/// After which time a failed write is retried.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A pod as the API server has it.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    Pod(Arc<Pod>),
    /// It was deleted, or is on another node.
    Gone,
}

impl Seen {
    fn pod(&self) -> Option<&Arc<Pod>> {
        match self {
            Seen::Pod(pod) => Some(pod),
            Seen::Gone => None,
        }
    }
}

/// Runs a pod until it is deleted.
pub(super) async fn run(node: Arc<NodeContext>, pod: Arc<Pod>, seen: watch::Receiver<Seen>) {
    let (stop_sender, stop) = watch::channel(None);
    let (records, changes) = watch::channel(Records::new(&pod));
    // The former address of a pod that is restarted with its node can be that of another pod.
    let known_ip = pod.status.as_ref().and_then(|status| status.pod_ip.clone());
    let addresses = Addresses {
        host: node.ip.clone(),
        pod: if has_finished(&pod) { known_ip.unwrap_or_default() } else { node.next_pod_ip() },
        start_time: node.environment.clock.time(),
    };
    let client = Api::namespaced(node.environment.client.clone(), &pod.namespace().unwrap_or_default());
    let publisher = Publisher { node: Arc::clone(&node), client, addresses: addresses.clone() };
    let context = PodContext { node: Arc::clone(&node), pod: Arc::clone(&pod), pod_ip: addresses.pod, records, stop };
    let life = async {
        // The containers of a pod that has ended, or that was deleted while the node was down, do not run.
        if !has_finished(&pod) && !is_terminating(&*pod) {
            container::run_all(&context).await;
            context.records.send_modify(|records| records.has_ended = true);
        }
        let records = context.records.borrow().clone();
        publisher.complete(seen.clone(), records, has_finished(&pod)).await;
    };
    tokio::select! {
        () = life => {}
        () = follow(seen.clone(), stop_sender) => {}
        () = publisher.run(seen.clone(), changes, has_finished(&pod)) => {}
    }
    node.runtime.remove(&node.name, &pod);
}

/// Stops the containers when the pod is deleted: at the end of its grace period, or at once if it no longer exists.
/// Never returns.
async fn follow(mut seen: watch::Receiver<Seen>, stop: watch::Sender<Option<Instant>>) {
    loop {
        let deadline = match seen.borrow_and_update().pod() {
            None => Some(Instant::now()),
            Some(pod) if is_terminating(&**pod) => {
                let grace = seconds(pod.metadata.deletion_grace_period_seconds.unwrap_or_default());
                Some(Instant::now() + grace)
            }
            Some(_) => None,
        };
        stop.send_if_modified(|current| {
            // Later events do not prolong the grace period.
            let is_earlier = deadline.is_some_and(|deadline| current.is_none_or(|current| deadline < current));
            if is_earlier {
                *current = deadline;
            }
            is_earlier
        });
        if seen.changed().await.is_err() {
            return pending().await;
        }
    }
}

/// Writes the status of a pod.
struct Publisher {
    node: Arc<NodeContext>,
    client: Api<Pod>,
    addresses: Addresses,
}

impl Publisher {
    /// Writes the status after each change that matters. Never returns.
    async fn run(&self, mut seen: watch::Receiver<Seen>, mut changes: watch::Receiver<Records>, has_finished: bool) {
        if has_finished {
            return pending().await;
        }
        loop {
            let pod = seen.borrow_and_update().pod().cloned();
            let records = changes.borrow_and_update().clone();
            let is_written = match &pod {
                Some(pod) => self.write(pod, &records).await,
                None => true,
            };
            tokio::select! {
                Ok(()) = seen.changed() => {}
                Ok(()) = changes.changed() => {}
                () = sleep(RETRY_INTERVAL), if !is_written => {}
                else => return pending().await,
            }
        }
    }

    /// Writes the status if it differs. Returns whether it is written.
    async fn write(&self, pod: &Pod, records: &Records) -> bool {
        let status = status::build(pod, records, &self.addresses, &self.node.environment.clock);
        if status::digest(Some(&status)) == status::digest(pod.status.as_ref()) {
            return true;
        }
        self.node.connected().await;
        let patch = Patch::Strategic(json!({"metadata": {"uid": pod.uid()}, "status": status::patch(&status)}));
        match self.client.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await {
            Ok(_) => true,
            // The pod was deleted, or recreated under its name.
            Err(kube::Error::Api(error)) if error.is_not_found() || error.is_conflict() => true,
            Err(error) => {
                tracing::warn!(%error, pod = pod.name_any(), "cannot write the status of a pod; it is retried");
                false
            }
        }
    }

    /// Waits until a pod whose containers have ended is deleted, and removes it.
    async fn complete(&self, mut seen: watch::Receiver<Seen>, records: Records, has_finished: bool) {
        loop {
            let pod = seen.borrow_and_update().pod().cloned();
            match &pod {
                None => return,
                Some(pod) if is_terminating(&**pod) => {
                    let is_final = has_finished || !records.has_ended || self.write(pod, &records).await;
                    // The deletion is seen as an event. A pod with finalizers remains until they are removed.
                    if !is_final || !self.remove(pod).await {
                        sleep(RETRY_INTERVAL).await;
                        continue;
                    }
                }
                Some(_) => {}
            }
            if seen.changed().await.is_err() {
                return pending().await;
            }
        }
    }

    async fn remove(&self, pod: &Pod) -> bool {
        self.node.connected().await;
        self.node.runtime.remove(&self.node.name, pod);
        let params = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
        let params = Preconditions::uid(pod).apply_to(params);
        match self.client.delete(&pod.name_any(), &params).await {
            Ok(_) => true,
            Err(kube::Error::Api(error)) if error.is_not_found() || error.is_conflict() => true,
            Err(error) => {
                tracing::warn!(%error, pod = pod.name_any(), "cannot remove a pod; it is retried");
                false
            }
        }
    }
}
