//! Kubelets: one per node, which sends heartbeats, runs the containers of its pods, reports their status and serves
//! their logs.

mod container;
mod logs;
mod node;
mod pod;
mod probes;
mod process;
mod records;
mod runtime;
mod server;
mod simulated;
mod status;

pub(crate) use node::{NodeAgent, Power, template};
pub use process::Processes;
pub use runtime::Runtime;
pub use simulated::{Behavior, Simulated};
