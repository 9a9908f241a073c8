//! Kubelets: one per node, which sends heartbeats, runs the containers of its pods and reports their status.

mod container;
mod node;
mod pod;
mod probes;
mod process;
mod records;
mod runtime;
mod simulated;
mod status;

pub(crate) use node::{NodeAgent, Power, template};
pub use process::Processes;
pub use runtime::Runtime;
pub use simulated::{Behavior, Simulated};
