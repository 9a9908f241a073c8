//! The commands.

use std::process::ExitCode;

use kubewright_core::meta::ApiGroup;

use super::{
    codegen::{self, Args},
    crd::{self, Crd},
    docs::{self, Docs},
    print::exit_code,
    release_fixtures::{self, ReleaseFixtures},
};

/// The commands for the API of a project. An `xtask` with other commands flattens this into its own
/// (`#[command(flatten)]`) and calls [`Command::run`].
#[derive(Clone, Debug, clap::Subcommand)]
#[command(about = None, long_about = None)]
#[allow(clippy::large_enum_variant, reason = "created once, by clap")]
pub enum Command {
    /// Generate the client crate and the CRD files, check them for drift, or explain the attributes.
    Codegen(Args),
    /// Validate, compare or import CustomResourceDefinitions.
    #[command(subcommand)]
    Crd(Crd),
    /// Generate the API reference, a Markdown page for each version of each group, or check it for drift.
    Docs(Docs),
    /// Write objects of the current version of the project, which all later versions have to convert.
    ReleaseFixtures(ReleaseFixtures),
}

impl Command {
    /// Runs the command and prints its result. Exit codes: 0 success, 1 drift or a change that is not allowed, 2 error.
    pub fn run(&self, groups: &[ApiGroup]) -> ExitCode {
        match self {
            Command::Codegen(args) => codegen::run(groups, args),
            Command::Crd(crd) => exit_code(crd::run(groups, crd)),
            Command::Docs(args) => exit_code(docs::run(groups, args)),
            Command::ReleaseFixtures(args) => exit_code(release_fixtures::run(groups, args)),
        }
    }
}
