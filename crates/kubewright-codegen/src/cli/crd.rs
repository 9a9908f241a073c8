//! `crd`: validates, compares and imports definitions.

mod check;
mod diff;
mod import;
mod source;
mod yaml;

use std::process::ExitCode;

use anyhow::Result;
use kubewright_core::meta::ApiGroup;

pub use check::Check;
pub use diff::{AllowedChange, Diff};
pub use import::Import;

/// Commands for CustomResourceDefinitions.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Crd {
    /// Validate definitions as the API server does, with its paths and messages.
    Check(Check),
    /// Compare definitions and classify each change for clients and stored objects: breaking, tightening, safe, or
    /// rejected by the server.
    Diff(Diff),
    /// Import existing definitions as Rust types that generate equal definitions.
    Import(Import),
}

pub(super) fn run(groups: &[ApiGroup], crd: &Crd) -> Result<ExitCode> {
    match crd {
        Crd::Check(args) => check::run(args),
        Crd::Diff(args) => diff::run(groups, args),
        Crd::Import(args) => import::run(args),
    }
}
