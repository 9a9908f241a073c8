//! The interface of the program `replica`: its options, and the data of the ConfigMaps that it reconciles.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The name of the Lease.
pub const LEASE: &str = "replicas";
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

/// The options of a replica: its only argument, in JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The file with the API server and the user.
    pub kubeconfig: PathBuf,
    /// The namespace of the Lease and of the ConfigMaps.
    pub namespace: String,
    /// The identity of the elector.
    pub identity: String,
    /// The file of the [journal](crate::journal).
    pub journal: PathBuf,
    /// The port of health checks and metrics; 0 selects a free one.
    pub port: u16,
    /// The directory with `tls.crt` and `tls.key`, to serve HTTPS.
    pub certificates: Option<PathBuf>,
}
