//! The manager of an operator: it runs controllers, informers and servers as one process, with leader election, health
//! checks and a graceful stop.
//!
//! An [`Operator`] is a manager with a command line:
//!
//! ```no_run
//! use std::{process::ExitCode, sync::Arc};
//!
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright_manager::Operator;
//! use kubewright_runtime::{Error, ReconcileContext};
//!
//! async fn reconcile(config_map: Arc<ConfigMap>, ctx: ReconcileContext) -> Result<(), Error> {
//!     ctx.event(&*config_map, "Reconciled", "nothing to do");
//!     Ok(())
//! }
//!
//! fn main() -> ExitCode {
//!     let operator = Operator::new("my-operator");
//!     operator.controller(|setup| setup.controller("config-maps").reconcile(reconcile).build()).main()
//! }
//! ```
//!
//! Nothing is process-wide: a program can run several managers, for several clusters.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`crds`] | the definitions of a program: changes, application, migration of stored objects |
//! | [`health`] | health checks, and what `/livez`, `/readyz` and `/healthz` respond |
//! | [`serving`] | HTTP and HTTPS servers with limits, certificates, metrics endpoint, authentication by the API server |
//! | [`webhooks`] | defaulters, validators and conversions, which the API server calls |
//! | [`manager`] | supervised tasks, their start and stop, leader election |
//! | [`telemetry`] | the log of a process as text or JSON, and the export of traces |
//! | [`operator`] | the operator as a program: its parts and its command line |

pub mod crds;
pub mod health;
pub mod manager;
pub mod operator;
pub mod serving;
pub mod telemetry;
pub mod webhooks;

pub use kubewright_core::description::OperatorDescription;
pub use kubewright_runtime::{CancellationToken, LeaderElectionConfig, Sharding};

pub use health::HealthChecks;
pub use manager::{
    BoxError, DescribeFn, Manager, ManagerBuilder, ManagerError, Probes, Replicas, Runnable, Stage, WebhookCertificates,
};
pub use operator::{Operator, Setup};
pub use telemetry::{LogFormat, Telemetry};
pub use webhooks::{Webhook, Webhooks};
