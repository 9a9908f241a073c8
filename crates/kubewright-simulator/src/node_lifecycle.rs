//! The node lifecycle controller: it marks nodes without heartbeats, taints them, and evicts their pods.

mod eviction;
mod health;
mod zones;

use crate::environment::Environment;

/// Runs until it is dropped, or until the informers have stopped.
pub(crate) async fn run(environment: &Environment) {
    tokio::join!(health::run(environment), eviction::run(environment));
}
