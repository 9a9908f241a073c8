//! Drain: evicts the pods of a node through the eviction API, which honours budgets.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, EvictParams, ListParams},
};
use kubewright_runtime::{Error, ObjectKey, Preconditions};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Cluster, ClusterError};
use crate::model::{
    clock::after,
    pods::{is_daemon, is_terminating},
};

/// The interval between two tries of an eviction that a budget does not allow, as in kubectl.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// The interval between two checks whether the evicted pods have ended.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

impl Cluster {
    /// Cordons a node and evicts its pods, except those of DaemonSets, and returns when they have ended. An eviction
    /// that a PodDisruptionBudget does not allow is retried every 5 s.
    ///
    /// # Errors
    /// Fails if pods remain after the timeout, with the reason of the API server. The node remains cordoned.
    pub async fn drain(&self, node: &str, timeout: Duration) -> Result<(), ClusterError> {
        self.cordon(node).await?;
        let (deadline, mut reason) = (after(Instant::now(), timeout), None);
        loop {
            let remaining = self.evictable(node).await?;
            if remaining.is_empty() {
                return Ok(());
            }
            let rejected = match timeout_at(deadline, self.evict(&remaining)).await {
                Ok(rejected) => rejected?,
                Err(_) => None,
            };
            let interval = if rejected.is_some() { RETRY_INTERVAL } else { CHECK_INTERVAL };
            reason = rejected.or(reason);
            if Instant::now() + interval > deadline {
                let pods = remaining.iter().map(|pod| ObjectKey::from_object(pod).to_string()).collect();
                return Err(ClusterError::NotDrained { node: node.to_owned(), timeout, pods, reason });
            }
            sleep(interval).await;
        }
    }

    /// Returns the pods of a node that a drain evicts. As in kubectl, they are listed: the cache can miss new ones.
    async fn evictable(&self, node: &str) -> Result<Vec<Pod>, Error> {
        let api: Api<Pod> = Api::all(self.0.environment.client.clone());
        let params = ListParams::default().fields(&format!("spec.nodeName={node}"));
        let mut pods = api.list(&params).await.map_err(|error| Error::new("list", "pods", "", error))?.items;
        pods.retain(|pod| !is_daemon(pod));
        Ok(pods)
    }

    /// Evicts pods. Returns why the last one of those that remain was not evicted.
    async fn evict(&self, pods: &[Pod]) -> Result<Option<String>, Error> {
        let mut rejected = None;
        for pod in pods.iter().filter(|pod| !is_terminating(*pod)) {
            let (name, namespace) = (pod.name_any(), pod.namespace().unwrap_or_default());
            let api: Api<Pod> = Api::namespaced(self.0.environment.client.clone(), &namespace);
            let options = Preconditions::uid(pod).apply_to(DeleteParams::default());
            let params = EvictParams { delete_options: Some(options), ..EvictParams::default() };
            match api.evict(&name, &params).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 429 => rejected = Some(reason(&status)),
                Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => {}
                Err(error) => {
                    let error = Error::new("create", "pods", &name, error).with_subresource(Some("eviction"));
                    return Err(error.with_namespace(Some(&namespace)));
                }
            }
        }
        Ok(rejected)
    }
}

/// Returns the message of a rejection, with the one of the budget.
fn reason(status: &kube::core::Status) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.fold(status.message.clone(), |text, cause| format!("{text}: {}", cause.message))
}
