//! The Logger scenario on this machine: an API server, nodes, the operator, and agents that write files.

pub mod definition;
pub mod local_cluster;

pub use local_cluster::{LocalCluster, LocalClusterConfig, LocalClusterError};
