//! The agent of a log: it records audit events, records of applications and heartbeats to files that survive crashes.
//!
//! The agent needs no access to the API of Kubernetes. The program `logger-agent` is a thin shell around [`agent`];
//! tests and demonstrations start an [`Agent`] in their process.
//!
//! The modules are layers. Each imports only from the lines above its own:
//!
//! | modules | contents |
//! |---|---|
//! | [`interface`], [`record`], [`file_system`] | what the operator knows; one line of a file; the operations on files |
//! | [`metrics`], [`segment`], [`deduplication`] | the metrics; the files of a log and their lines; recent ids |
//! | [`journal`], [`verify`] | the writer of the segments, with recovery and retention; the check of existing files |
//! | [`health`], [`sources`] | readiness by the age of the last fsync; requests to records, heartbeats |
//! | [`server`] | the HTTP endpoints |
//! | [`agent`] | all of them as one process |
//! | [`cli`] | the command line |

pub mod agent;
pub mod cli;
pub mod deduplication;
pub mod file_system;
pub mod health;
pub mod interface;
pub mod journal;
pub mod metrics;
pub mod record;
pub mod segment;
pub mod server;
pub mod sources;
pub mod verify;

pub use agent::{Agent, AgentConfig, AgentError};
pub use journal::{Journal, JournalConfig};
pub use record::{Draft, Record, Source};
