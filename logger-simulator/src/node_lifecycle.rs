//! The node lifecycle controller: it marks nodes without heartbeats, taints them, and evicts their pods.

mod eviction;
mod health;
mod zones;

use logger_runtime::CancellationToken;

use crate::environment::Environment;

/// Runs until cancelled.
pub(crate) async fn run(environment: &Environment, stop: &CancellationToken) {
    tokio::join!(health::run(environment, stop), eviction::run(environment, stop));
}
