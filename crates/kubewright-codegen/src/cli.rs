//! The command line of the `xtask` of any project.

pub(crate) mod codegen;
pub(crate) mod command;
pub(crate) mod crd;
mod declared;
pub(crate) mod docs;
mod manifest;
pub(crate) mod print;
pub(crate) mod project;
pub(crate) mod release_fixtures;
mod report;
pub(crate) mod repository;
pub(crate) mod settings;
pub(crate) mod write;

use std::process::ExitCode;

use clap::Parser;
use kubewright_core::meta::ApiGroup;

use command::Command;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// Runs the command line: a complete `main` for an `xtask` without other commands. It provides
/// `cargo xtask codegen [--check]`, `cargo xtask codegen explain`, `cargo xtask crd check`, `cargo xtask crd diff`,
/// `cargo xtask crd import`, `cargo xtask docs` and `cargo xtask release-fixtures`.
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    Program::parse().command.run(groups)
}
