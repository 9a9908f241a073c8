//! `crd`: definitions compared and checked, those of this project or from elsewhere.

mod check;
mod definitions;
mod diff;

use std::process::ExitCode;

use anyhow::Result;
use logger_core::meta::ApiGroup;

pub use check::Check;
pub use diff::{Allowed, Diff};

/// What can be done with definitions.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Crd {
    /// Tell what the API server would refuse in definitions from anywhere, or warn of, with its paths and texts.
    Check(Check),
    /// Tell what changes for clients and stored objects: breaking, tightening, safe, or refused by the server.
    Diff(Diff),
}

pub(crate) fn run(groups: &[ApiGroup], crd: &Crd) -> Result<ExitCode> {
    match crd {
        Crd::Check(args) => check::run(args),
        Crd::Diff(args) => diff::run(groups, args),
    }
}
