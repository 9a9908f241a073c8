//! The errors of a cluster and of its calls.

use std::time::Duration;

use kubewright_runtime::{controller::RunError, events::InvalidControllerName, informer::InformerFailed};
use tokio::task::JoinError;

/// The reason why a cluster ended, or why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The cluster was run before.
    #[error("the cluster was run before; build another one")]
    AlreadyRun,
    /// The cluster does not run.
    #[error("the cluster does not run; call `run` on another task")]
    NotRunning,
    /// There is a node of this name.
    #[error("the cluster has a node `{node}` already; use another name")]
    DuplicateNode {
        /// The name of the node.
        node: String,
    },
    /// There is no node of this name.
    #[error("the cluster has no node `{node}`; add it with `add_node`")]
    UnknownNode {
        /// The name of the node.
        node: String,
    },
    /// Another call switched the node before this one was done.
    #[error("another call switched node `{node}`; await each call before the next one")]
    Superseded {
        /// The name of the node.
        node: String,
    },
    /// No node is in this zone.
    #[error("the cluster has no node in zone `{zone}`")]
    UnknownZone {
        /// The name of the zone.
        zone: String,
    },
    /// Pods could not be evicted in time.
    #[error("node `{node}` is not drained after {timeout:?}: {} remain{}", pods.join(", "), because(reason))]
    NotDrained {
        /// The name of the node.
        node: String,
        /// The time limit.
        timeout: Duration,
        /// The remaining pods, as `namespace/name`.
        pods: Vec<String>,
        /// The last rejection of an eviction, such as that of a PodDisruptionBudget.
        reason: Option<String>,
    },
    /// A request failed.
    #[error(transparent)]
    Request(#[from] kubewright_runtime::Error),
    /// A controller failed.
    #[error(transparent)]
    Controller(#[from] RunError),
    /// An informer failed.
    #[error(transparent)]
    Informer(#[from] InformerFailed),
    /// The event recorder could not be created.
    #[error(transparent)]
    Events(#[from] InvalidControllerName),
    /// A task of the cluster panicked.
    #[error("a task of the cluster panicked")]
    Panicked(#[source] JoinError),
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
}
