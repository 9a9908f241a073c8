//! The command line of a project: the commands of `cargo xtask` that need more than its kinds.

pub mod bundle;
pub mod catalog;
pub mod manifests;
pub mod scorecard;

use std::{io::Write, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use logger_core::meta::ApiGroup;

use crate::workspace::Workspace;

/// A command about the project. An `xtask` with other commands flattens it into its own.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render the roles and the configuration of the operator in `config/`, from what it prints about itself.
    Manifests(manifests::Manifests),
    /// Render a bundle for Operator Lifecycle Manager (OLM) in `bundle/`, or validate one.
    Bundle(bundle::BundleArgs),
    /// Add a bundle to the file-based catalog in `catalog/`.
    Catalog(catalog::CatalogArgs),
    /// Run the six checks of the scorecard of the Operator SDK on a bundle, without a cluster.
    Scorecard(scorecard::ScorecardArgs),
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Lines of text.
    Text,
    /// A JSON array.
    Json,
}

impl Command {
    /// Runs the command in the workspace of this program, for these kinds. The exit code is 0 for success, 1 if
    /// `--check` finds files that are out of date or a bundle has errors, and 2 for an error, which is printed.
    #[must_use]
    pub fn run(&self, groups: &[ApiGroup]) -> ExitCode {
        let workspace = Workspace::find(groups);
        match self {
            Command::Manifests(manifests) => manifests.run(&workspace),
            Command::Bundle(bundle) => bundle.run(&workspace),
            Command::Catalog(catalog) => catalog.run(&workspace),
            Command::Scorecard(scorecard) => scorecard.run(&workspace),
        }
    }
}

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Xtask {
    #[command(flatten)]
    Api(logger_codegen::Command),
    #[command(flatten)]
    Project(Command),
}

/// Runs the command of this process: those of [`logger_codegen`] and [`Command`].
///
/// ```no_run
/// # mod my_types { pub fn groups() -> &'static [logger_core::meta::ApiGroup] { &[] } }
/// fn main() -> std::process::ExitCode {
///     logger_project::cli(my_types::groups())
/// }
/// ```
#[must_use]
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    match Xtask::parse() {
        Xtask::Api(command) => command.run(groups),
        Xtask::Project(command) => command.run(groups),
    }
}

/// Prints a line to standard output. A closed pipe is ignored: the exit code is still returned.
fn print(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints an error.
fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}
