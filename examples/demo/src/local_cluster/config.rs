//! The configuration of a local cluster, and the check of its paths.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use logger_operator::OperatorOptions;

use super::LocalClusterError;

/// The image of agents by default. Its containers run [`LocalClusterConfig::agent`].
pub const AGENT_IMAGE: &str = "logger-agent:local";

/// The time until a lost node is noticed. It is as short as heartbeats of a second allow.
const GRACE_PERIOD: Duration = Duration::from_secs(6);
/// How long agents stay on a lost node.
const TOLERATION_SECONDS: u32 = 5;

/// The configuration of a [`LocalCluster`](super::LocalCluster).
#[derive(Clone, Debug)]
pub struct LocalClusterConfig {
    /// The program `logger-agent`.
    pub agent: PathBuf,
    /// The directory of all files, which is created if it does not exist. A cluster that is started with the directory
    /// of another one continues with its objects.
    pub directory: PathBuf,
    /// The zones with the numbers of their nodes.
    pub zones: Vec<(String, usize)>,
    /// The options of the operator. Containers of its image run the agent.
    pub operator: OperatorOptions,
    /// How long a node can be silent until it is marked as not ready.
    pub node_monitor_grace_period: Duration,
}

impl LocalClusterConfig {
    /// Creates the configuration of three nodes in two zones, which reacts to a lost node within seconds.
    #[must_use]
    pub fn new(agent: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        let operator =
            OperatorOptions { agent_toleration_seconds: TOLERATION_SECONDS, ..OperatorOptions::new(AGENT_IMAGE) };
        LocalClusterConfig {
            agent: agent.into(),
            directory: directory.into(),
            zones: vec![("zone-a".to_owned(), 2), ("zone-b".to_owned(), 1)],
            operator,
            node_monitor_grace_period: GRACE_PERIOD,
        }
    }
}

/// Returns the absolute path of the agent: its processes have other working directories.
pub(super) fn program(agent: &Path) -> Result<String, LocalClusterError> {
    let failed = |source| LocalClusterError::Agent { path: agent.to_owned(), source };
    let path = fs::canonicalize(agent).map_err(failed)?;
    match path.is_file() {
        true => path.into_os_string().into_string().map_err(|_| failed(io::ErrorKind::InvalidFilename.into())),
        false => Err(failed(io::ErrorKind::InvalidInput.into())),
    }
}

/// Creates the directory, and returns its absolute path.
pub(super) fn create_directory(directory: &Path) -> Result<PathBuf, LocalClusterError> {
    let created = fs::create_dir_all(directory).and_then(|()| fs::canonicalize(directory));
    created.map_err(|source| LocalClusterError::Directory { path: directory.to_owned(), source })
}
