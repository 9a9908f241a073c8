//! The sources of records: audit events, records of applications, and heartbeats.

pub mod activity;
pub mod audit;
mod error;
pub mod heartbeat;
pub mod json;
pub mod rate_limit;
pub mod token;

use std::fmt;

use clap::ValueEnum;
use http::HeaderMap;

use crate::record::{self, Draft};

pub use activity::Activity;
pub use audit::Audit;
pub use error::SourceError;
pub use heartbeat::Heartbeat;
pub use rate_limit::RateLimit;
pub use token::{TokenError, Tokens};

/// A source of user activity whose records an agent can accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// Audit events of the API server.
    Audit,
    /// Records of applications.
    Activity,
}

impl Source {
    /// All sources.
    pub const ALL: [Source; 2] = [Source::Audit, Source::Activity];
}

impl From<Source> for record::Source {
    fn from(source: Source) -> Self {
        match source {
            Source::Audit => record::Source::Audit,
            Source::Activity => record::Source::Activity,
        }
    }
}

/// A source of user activity that sends HTTP requests to the agent.
pub trait ActivitySource: fmt::Debug + Send + Sync {
    /// Returns the records of a request.
    ///
    /// # Errors
    /// Fails if the request is not what the source sends. No record is written then.
    fn drafts(&self, headers: &HeaderMap, body: &[u8]) -> Result<Vec<Draft>, SourceError>;
}
