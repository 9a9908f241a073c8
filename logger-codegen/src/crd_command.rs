//! `crd`: definitions compared, those of this project or from elsewhere.

mod definitions;
mod diff;

use std::process::ExitCode;

use anyhow::Result;
use logger_core::meta::ApiGroup;

pub use diff::{Allowed, Diff};

/// What can be done with definitions.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Crd {
    /// Tell what changes for clients and stored objects: breaking, tightening, safe, or refused by the server.
    Diff(Diff),
}

pub(crate) fn run(groups: &[ApiGroup], crd: &Crd) -> Result<ExitCode> {
    match crd {
        Crd::Diff(args) => diff::run(groups, args),
    }
}
