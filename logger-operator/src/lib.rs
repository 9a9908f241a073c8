//! The operator of the Logger API: for each Logger, it runs agents that record user activity to files, and reports what
//! it observes.
//!
//! [`operator()`] is the program, and its [`add_to`](kubewright_manager::Operator::add_to) adds it to the manager of a
//! test or of another program. The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`reason`], [`names`], [`metrics`], `spec` | reasons of conditions, names and labels of objects, names of metrics, values of a spec |
//! | [`children`], [`validation`] | the desired objects of a Logger, as pure functions |
//! | [`readiness`] | problems that agents report |
//! | [`status`] | the observed state of a Logger, as a pure function |
//! | [`options`] | flags and environment variables |
//! | `reconcile`, `default_logger` | what is written |
//! | [`mod@webhooks`] | the conversion between the versions of a Logger |
//! | [`observability`] | alerts and a dashboard, as typed data |
//! | [`mod@operator`] | informers, controller and command line |

pub mod children;
mod default_logger;
pub mod metrics;
pub mod names;
pub mod observability;
pub mod operator;
pub mod options;
pub mod readiness;
pub mod reason;
mod reconcile;
mod spec;
pub mod status;
pub mod validation;
pub mod webhooks;

pub use default_logger::DEFAULT_LOGGER;
pub use operator::{DEFINITIONS, NamespaceNotWatched, operator};
pub use options::OperatorOptions;
pub use webhooks::webhooks;
