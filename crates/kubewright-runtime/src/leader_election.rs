//! Leader election by a Lease of `coordination.k8s.io/v1`: work that runs in one process at a time.
//!
//! The rules are those of client-go. In addition, the leader's work has ended before another process can take over.
//!
//! | module | contents |
//! |---|---|
//! | `state_machine` | the decisions, without I/O |
//! | `elector` | the requests and the leader's work |
//! | `simulation` | tests of several state machines with clock skew, partitions and pauses |

mod config;
mod elector;
#[cfg(test)]
mod lease_store;
mod metrics;
mod record;
mod requests;
#[cfg(test)]
mod simulation;
mod state_machine;
mod status;
mod work;

pub use config::{ConfigError, LeaderElectionConfig, unique_identity};
pub use elector::{LeaderElectionError, LeaderElector};
pub use record::LeaderElectionRecord;
pub use requests::lease_client;
#[cfg(feature = "informers")]
pub(crate) use requests::{is_permanent, respond_by};
pub use state_machine::LossReason;
#[cfg(feature = "informers")]
pub(crate) use state_machine::{Policy, Time, next_time};
pub use status::{LeaderStatus, LeaseOverdue};
#[cfg(feature = "informers")]
pub(crate) use work::Fence;
pub(crate) use work::is_leadership_over;
pub use work::{Fenced, fenced};
