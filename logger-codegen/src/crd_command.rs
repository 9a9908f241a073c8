//! `crd`: definitions compared and checked, those of this project or from elsewhere.

mod check;
mod definitions;
mod diff;
mod import;

use std::process::ExitCode;

use anyhow::Result;
use logger_core::meta::ApiGroup;

pub use check::Check;
pub use diff::{Allowed, Diff};
pub use import::Import;

/// What can be done with definitions.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Crd {
    /// Tell what the API server would refuse in definitions from anywhere, or warn of, with its paths and texts.
    Check(Check),
    /// Tell what changes for clients and stored objects: breaking, tightening, safe, or refused by the server.
    Diff(Diff),
    /// Write Rust types of definitions from elsewhere: generating them gives the same definitions.
    Import(Import),
}

pub(crate) fn run(groups: &[ApiGroup], crd: &Crd) -> Result<ExitCode> {
    match crd {
        Crd::Check(args) => check::run(args),
        Crd::Diff(args) => diff::run(groups, args),
        Crd::Import(args) => import::run(args),
    }
}
