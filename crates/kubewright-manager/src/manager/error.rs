//! The errors of a manager.

use std::{io, time::Duration};

pub use kubewright_runtime::error::BoxError;
use kubewright_runtime::{
    leader_election::{ConfigError, LeaderElectionError},
    sharding::ShardingError,
};

use crate::{health::AddCheckError, serving::ServerError, webhooks::WebhookError};

/// A runnable that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The manager was started.
    #[error("cannot add `{name}`: the manager was already started; add it before")]
    AlreadyStarted {
        /// The name of the runnable.
        name: String,
    },
    /// The name is used by another runnable or check, or cannot be part of a URL: the runnable has a health check of
    /// the same name.
    #[error("cannot add the runnable: {0}")]
    Check(#[from] AddCheckError),
}

/// A manager that cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A runnable cannot be added.
    #[error(transparent)]
    Add(#[from] AddError),
    /// A health check cannot be added.
    #[error(transparent)]
    Check(#[from] AddCheckError),
    /// The options of leader election are invalid.
    #[error(transparent)]
    LeaderElection(#[from] ConfigError),
    /// The options of a sharding are invalid.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// A server cannot listen.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The webhooks cannot be served.
    #[error(transparent)]
    Webhooks(#[from] WebhookError),
}

/// The reason why a manager stopped, or did not stop in time.
#[derive(Debug, thiserror::Error)]
pub enum ManagerError {
    /// The manager was run before.
    #[error("the manager was already started; create a new one")]
    AlreadyStarted,
    /// The signal handlers cannot be installed.
    #[error("cannot install signal handlers: {0}")]
    Signals(io::Error),
    /// Runnables did not start in time.
    #[error("not started within {timeout:?}: {}", reasons.join("; "))]
    NotStarted {
        /// The start timeout.
        timeout: Duration,
        /// The name of each runnable and the reason, if one is known.
        reasons: Vec<String>,
    },
    /// A runnable returned although it was not stopped.
    #[error("`{name}` ended although it was not stopped")]
    Ended {
        /// The name of the runnable.
        name: String,
    },
    /// A runnable returned an error.
    #[error("`{name}` failed: {error}")]
    Failed {
        /// The name of the runnable.
        name: String,
        /// Its error.
        error: BoxError,
    },
    /// A runnable panicked.
    #[error("`{name}` panicked: {message}")]
    Panicked {
        /// The name of the runnable.
        name: String,
        /// The message of the panic.
        message: String,
    },
    /// The leadership was lost, or leader election is not possible.
    #[error(transparent)]
    LeaderElection(#[from] LeaderElectionError),
    /// Runnables did not end within the graceful shutdown timeout.
    #[error("stopped, but {}", describe_unstopped(timeout, aborted, blocked))]
    NotStopped {
        /// The graceful shutdown timeout.
        timeout: Duration,
        /// The names of the runnables that were aborted.
        aborted: Vec<String>,
        /// The names of the runnables that block their thread, so they could not be aborted and still run. End the
        /// process immediately.
        blocked: Vec<String>,
    },
}

fn describe_unstopped(timeout: &Duration, aborted: &[String], blocked: &[String]) -> String {
    let names = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !aborted.is_empty() {
        parts.push(format!("aborted what did not end within {timeout:?}: {}", names(aborted)));
    }
    if !blocked.is_empty() {
        let blocked = names(blocked);
        parts.push(format!("these block their thread and still run: {blocked}; end the process"));
    }
    parts.join("; ")
}
