//! The interface of the program `replica`: its options, and the data of the ConfigMaps that it reconciles.

mod running;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use kubewright_runtime::LeaderElectionConfig;
use serde::{Deserialize, Serialize};

pub use running::{Error, Figures, Replica};

/// The name of the Lease, and of the fleet of replicas that share the keys.
pub const LEASE: &str = "replicas";
/// The duration of the Leases: they expire soon, so that tests with crashes are short.
pub const LEASE_DURATION: Duration = Duration::from_secs(5);
/// How long a renewal is retried.
pub const RENEW_DEADLINE: Duration = Duration::from_secs(4);
/// The time between renewals.
pub const RETRY_PERIOD: Duration = Duration::from_millis(300);
/// The maximum number of objects that a replica reconciles concurrently.
pub const CONCURRENCY: usize = 4;
/// The gauge of the running tasks of the process.
pub const ALIVE_TASKS: &str = "tokio_alive_tasks";

/// The data with the desired value.
pub const DESIRED: &str = "desired";
/// The data with the value that a replica has observed.
pub const OBSERVED: &str = "observed";
/// The data with the last write of a replica: its identity and the number of the write, `a/17`.
pub const WRITER: &str = "writer";

/// Returns the options of the Leases of a replica.
pub fn lease(namespace: &str, identity: &str) -> LeaderElectionConfig {
    LeaderElectionConfig::new(LEASE, identity)
        .namespace(namespace)
        .lease_duration(LEASE_DURATION)
        .renew_deadline(RENEW_DEADLINE)
        .retry_period(RETRY_PERIOD)
}

/// The options of a replica: its only argument, in JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The file with the API server and the user.
    pub kubeconfig: PathBuf,
    /// The address of a proxy in front of the API server; `None` for that of the kubeconfig.
    pub server: Option<SocketAddr>,
    /// The namespace of the Leases and of the ConfigMaps.
    pub namespace: String,
    /// The identity in the Leases.
    pub identity: String,
    /// How the replicas share the keys; `None` if only a leader reconciles.
    pub sharding: Option<ShardingField>,
    /// How long a reconciliation takes before it writes.
    pub duration: Duration,
    /// The file of the [journal](crate::journal). The log is next to it, with the extension `log`.
    pub journal: PathBuf,
    /// The port of health checks and metrics; 0 selects a free one.
    pub port: u16,
    /// The directory with `tls.crt` and `tls.key`, to serve HTTPS.
    pub certificates: Option<PathBuf>,
}

/// The field that assigns objects to replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShardingField {
    /// Each object by its UID.
    Uid,
    /// All objects of a namespace.
    Namespace,
}

impl Options {
    /// Returns the options of a replica with its files in this directory. Only a leader reconciles.
    pub fn new(kubeconfig: &Path, namespace: &str, identity: &str, directory: &Path) -> Self {
        Options {
            kubeconfig: kubeconfig.to_owned(),
            server: None,
            namespace: namespace.to_owned(),
            identity: identity.to_owned(),
            sharding: None,
            duration: Duration::ZERO,
            journal: directory.join(format!("{identity}.journal")),
            port: 0,
            certificates: None,
        }
    }
}
