//! The errors of a local cluster.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use kubewright_apiserver::{DataDirError, serve::TlsError};
use kubewright_manager::{
    ManagerError,
    manager::{BoxError, BuildError},
};
use kubewright_runtime::kube::{self, config::KubeconfigError};
use kubewright_simulator::ClusterError;
use tokio::task::JoinError;

use crate::definition::DefinitionError;

/// The reason why a local cluster does not start or stop, or why a part of it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalClusterError {
    /// The program of agents cannot be used.
    #[error("cannot run the agent {}; build it with `cargo build -p logger-agent`", path.display())]
    Agent {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file or directory cannot be written.
    #[error("cannot write {}", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The objects of the API server cannot be read or written.
    #[error(transparent)]
    DataDirectory(#[from] DataDirError),
    /// The API server cannot listen.
    #[error("the API server cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificates of the API server cannot be issued.
    #[error("cannot issue the certificates of the API server")]
    Tls(#[from] TlsError),
    /// The kubeconfig of the API server cannot be used.
    #[error("cannot use the kubeconfig of the API server")]
    Kubeconfig(#[from] KubeconfigError),
    /// A client cannot be created.
    #[error("cannot create a client of the API server")]
    Client(#[source] kube::Error),
    /// The kind is not served.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The nodes or their control plane failed.
    #[error(transparent)]
    Nodes(#[from] ClusterError),
    /// A node is not ready in time.
    #[error("node {node} is not ready after {timeout:?}")]
    NodeNotReady {
        /// The name of the node.
        node: String,
        /// The time limit.
        timeout: Duration,
    },
    /// The options of the operator are invalid.
    #[error("the options of the operator are invalid")]
    Operator(#[source] BoxError),
    /// The manager of the operator cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The operator failed.
    #[error("the operator failed")]
    Manager(#[from] ManagerError),
    /// A task panicked.
    #[error("a task of the cluster panicked")]
    Panicked(#[from] JoinError),
}
