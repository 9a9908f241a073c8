//! Kubelets: one per node, which sends heartbeats, runs the containers of its pods, reports their status and serves
//! their logs.

mod container;
mod lifecycle;
mod logs;
mod node;
mod node_context;
mod pod;
mod pod_context;
mod probes;
mod process;
mod records;
mod runtime;
mod server;
mod simulated;
mod status;

pub(crate) use node::{NodeAgent, template};
pub(crate) use node_context::Power;
pub use process::Processes;
pub use runtime::Runtime;
pub use simulated::{Behavior, Simulated};
