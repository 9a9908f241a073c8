//! The errors of sharding.

use std::time::Duration;

use super::slot::SlotSet;
use crate::{error::Error, leader_election::ConfigError};

/// The reason why a replica cannot share slots, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ShardingError {
    /// An option is missing or contradicts another one.
    #[error("sharding `{name}`: {source}")]
    Config {
        /// The name of the fleet.
        name: String,
        /// The option.
        source: ConfigError,
    },
    /// The name cannot be part of the names and labels of Leases.
    #[error("invalid sharding name `{name}`: {reason}")]
    InvalidName {
        /// The name of the fleet.
        name: String,
        /// The rule that it violates.
        reason: String,
    },
    /// The sharding was run before.
    #[error("sharding `{name}` was already started; create a new one")]
    AlreadyStarted {
        /// The name of the fleet.
        name: String,
    },
    /// The API server rejects the requests of this replica, and has done so for the renew deadline.
    #[error("sharding `{name}` failed for {waited:?}: {error}")]
    Rejected {
        /// The name of the fleet.
        name: String,
        /// How long requests were rejected.
        waited: Duration,
        /// The error, with the verb and the resource of the request.
        error: Error,
    },
    /// The Lease was not renewed in time, but reconciliations block their thread, so they cannot be cancelled. End the
    /// process immediately.
    #[error(
        "sharding `{name}`: the Lease was not renewed in time, and reconciliations of the slots {slots} block their \
         thread and still run: end the process; use `tokio::task::spawn_blocking`"
    )]
    WorkStillRuns {
        /// The name of the fleet.
        name: String,
        /// The slots of which keys are being processed.
        slots: SlotSet,
    },
}
