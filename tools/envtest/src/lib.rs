//! A real control plane for tests: builds, starts and stops etcd and kube-apiserver, and a cluster of simulated nodes.
//!
//! [`find`] and [`build`] return the binaries. [`ControlPlane`] runs them until it is dropped; [`up`] and [`down`] run
//! them independently of the process. [`Cluster`] is a control plane with kube-controller-manager, kube-scheduler and
//! kwok, which [`build_components`] builds. [`Suite`] is the test harness of suites on a control plane.
//!
//! Guarantees:
//! - A control plane or a cluster that is dropped, or that fails to start, leaves no processes and no files behind.
//! - All servers listen on the loopback interface only, and every file with a key or a token has mode 0600.
//! - [`down`] never signals a process that [`up`] did not start, even if its pid has been reused.

mod assets;
mod cluster;
mod components;
mod definitions;
mod detached;
mod go_module;
mod lock;
mod module;
mod paths;
mod progress;
mod state;
mod suite;

pub use assets::{
    ComponentAssets, HOW_TO_GET, HOW_TO_GET_COMPONENTS, HOW_TO_GET_HELM, HOW_TO_GET_OPERATOR_VERIFY,
    HOW_TO_GET_PROMTOOL, build, build_components, build_helm, build_operator_verify, build_promtool, find,
    find_components, find_helm, find_operator_verify, find_promtool,
};
pub use cluster::Cluster;
pub use definitions::{HOW_TO_GET_DEFINITIONS, build_definitions, find_definitions};
pub use detached::{down, up};
pub use go_module::GoModule;
pub use kubewright_envtest::{Assets, ControlPlane, SERVICE_ACCOUNT_ISSUER};
pub use paths::{target_dir, workspace_root};
pub use state::State;
pub use suite::{Suite, exit_code};
