//! The operator in a cluster: its installation, its rollout, and its ordered removal, all with kubectl.
//!
//! Guarantees:
//! - what can prevent a command is checked before the first write: kubectl, the cluster, the kinds that it serves,
//!   permissions, definitions that belong to another installation, and objects that the server would reject;
//! - the image is replaced in memory, and no file of the project is changed;
//! - custom resources are deleted while the operator runs, so that it can remove its finalizers, then the operator, the
//!   definitions, and the namespace last;
//! - a webhook that the objects do not have any more is removed, also if another program owns its CA bundle;
//! - a namespace that the operator did not create is neither changed nor deleted, and one with workloads of others is
//!   not deleted;
//! - every wait is bounded, and an error lists what is missing.

mod cluster;
mod error;
mod installation;
mod kubeconfig;
mod kubectl;
mod local_webhooks;
mod manifest;
mod namespaces;
mod program;
mod removal;
mod rollout;
mod teardown;
mod timeout;

pub use error::DeployError;
pub use installation::Installation;
pub use kubeconfig::Kubeconfig;
pub use kubectl::Kubectl;
pub use local_webhooks::local_prefix;
pub use manifest::Manifest;
pub use namespaces::KeptNamespace;
pub use program::{Outcome, Program};
pub use timeout::{InvalidTimeout, Timeout};
