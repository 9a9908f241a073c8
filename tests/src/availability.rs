//! The availability of a Logger on any cluster: an observer, faults, and the invariant that is checked throughout.
//!
//! The invariant: **while one ready schedulable node exists, at least one agent is ready.**
//!
//! - A node is *ready and schedulable* if its condition `Ready` is true, it is not cordoned, and it has no taint with
//!   the effect `NoSchedule` or `NoExecute`, as the API server reports it.
//! - An agent is *ready* if its Pod has the condition `Ready` and is not being deleted, and its `/readyz` responds with
//!   200. While the API server does not respond, the last known Pods are requested.
//! - On a cluster whose Pods are no processes, as those of kwok, the condition counts as the response.
//! - The requests of a sample are not atomic: an agent can end and another one become ready in between. The invariant
//!   is violated if two consecutive samples find no ready agent.
//!
//! # Covered faults
//!
//! A Logger with two agents survives the loss of one. Nothing survives the loss of all at once: then the promise is
//! that an agent is ready again within a bounded time. [`Fault::is_covered`] decides from the observed state before a
//! fault is injected. A fault is covered if enough ready agents remain outside of it:
//!
//! - Agents on nodes that are lost already do not count, also while the API server reports them as ready: a lost node
//!   is noticed only after its grace period, and its agents are replaced after their toleration.
//! - One agent must remain. Two must remain if there are more agents than desired: a rollout is in progress, and the
//!   Deployment can stop one of the agents that count.
//! - A drain is covered also without other agents, since the disruption budget delays it until another one is ready.
//!   That does not hold while the budget counts an agent of a lost node, or while a rollout is in progress.
//! - A rollout, an image that does not start, the loss of the operator and a restart of the API server stop no ready
//!   agent before another one is ready, and are always covered.
//!
//! Zones are spread `ScheduleAnyway`: after a drain both agents can be in one zone, whose loss is not covered then.
//! During a fault that is not covered, the invariant is suspended until the Logger has recovered. The report counts
//! these faults and their outages.

pub mod fault;
pub mod observation;
pub mod observer;
pub mod run;

use std::error::Error as StdError;

pub use fault::Fault;
pub use observation::Observation;
pub use observer::Observer;
pub use run::{Cluster, Run, fixed_sequence};

/// The error of any part of a run.
pub type Error = Box<dyn StdError + Send + Sync>;
