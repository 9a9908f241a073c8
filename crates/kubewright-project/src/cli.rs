//! The command line of a project: the commands of `cargo xtask` that need more than its kinds.

pub mod bundle;
pub mod catalog;
pub mod chart;
mod connection;
pub mod deploy;
mod envtest;
mod formatter;
mod git;
mod import;
pub mod init;
pub mod manifests;
pub mod migrate;
mod relative;
mod run;
pub mod scaffold;
pub mod scorecard;
pub mod writer;

use std::{error::Error, io::Write, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use kubewright_core::meta::ApiGroup;

use crate::workspace::Workspace;

/// A command about the project. An `xtask` with other commands flattens it into its own.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Render the roles and the configuration of the operator in `config/`, from what it prints about itself.
    Manifests(manifests::Manifests),
    /// Create a kind, or a further version of one.
    #[command(subcommand)]
    Create(scaffold::Create),
    /// Change what applies to the complete project.
    Edit(scaffold::Edit),
    /// Delete a version of a kind, with its files.
    #[command(subcommand)]
    Delete(scaffold::Delete),
    /// Rename a kind in all its versions.
    #[command(subcommand)]
    Rename(scaffold::Rename),
    /// Render the Helm chart of the operator in `charts/`, from the same objects.
    Chart(chart::Chart),
    /// Apply the configuration of the operator to a cluster, and wait until it is rolled out.
    Deploy(deploy::Deploy),
    /// Delete the custom resources, the operator, their definitions and the namespace, in this order.
    Undeploy(deploy::Undeploy),
    /// Apply the definitions only.
    Install(deploy::Install),
    /// Delete the custom resources, and then their definitions.
    Uninstall(deploy::Uninstall),
    /// Install the definitions and run the operator outside of the cluster, until Ctrl-C.
    Run(deploy::Run),
    /// Write all objects to one file, `dist/install.yaml`.
    Installer(deploy::Installer),
    /// Rewrite the stored objects of a kind in its storage version, so that an old version can be removed.
    Migrate(migrate::Migrate),
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
        let groups = match import::own_groups(groups) {
            Ok(groups) => groups,
            Err(error) => return failed(&*error),
        };
        let workspace = Workspace::find(&groups);
        match self {
            Command::Manifests(manifests) => manifests.run(&workspace),
            Command::Create(create) => create.run(&workspace),
            Command::Edit(edit) => edit.run(&workspace),
            Command::Delete(delete) => delete.run(&workspace),
            Command::Rename(rename) => rename.run(&workspace),
            Command::Chart(chart) => chart.run(&workspace),
            Command::Deploy(deploy) => deploy::exit_code(deploy.run(&workspace)),
            Command::Undeploy(undeploy) => deploy::exit_code(undeploy.run(&workspace)),
            Command::Install(install) => deploy::exit_code(install.run(&workspace)),
            Command::Uninstall(uninstall) => deploy::exit_code(uninstall.run(&workspace)),
            Command::Run(run) => deploy::exit_code(run.run(&workspace)),
            Command::Installer(installer) => deploy::exit_code(installer.run(&workspace)),
            Command::Migrate(migrate) => deploy::exit_code(migrate.run(&workspace)),
            Command::Bundle(bundle) => bundle.run(&workspace),
            Command::Catalog(catalog) => catalog.run(&workspace),
            Command::Scorecard(scorecard) => scorecard.run(&workspace),
        }
    }
}

/// Prints an error, and returns its exit code.
fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Xtask {
    #[command(flatten)]
    Api(Box<kubewright_codegen::Command>),
    #[command(flatten)]
    Project(Command),
    /// Run the tests that need a real control plane, which have `#[ignore]`, on the binaries in `KUBEBUILDER_ASSETS`.
    Envtest(envtest::Envtest),
}

/// Runs the command of this process: those of [`kubewright_codegen`], [`Command`], and `envtest`.
///
/// ```no_run
/// # mod my_types { pub fn groups() -> &'static [kubewright_core::meta::ApiGroup] { &[] } }
/// fn main() -> std::process::ExitCode {
///     kubewright_project::cli(my_types::groups())
/// }
/// ```
#[must_use]
pub fn cli(groups: &[ApiGroup]) -> ExitCode {
    match Xtask::parse() {
        Xtask::Api(command) => import::run(*command, groups).unwrap_or_else(|error| failed(&*error)),
        Xtask::Project(command) => command.run(groups),
        Xtask::Envtest(envtest) => envtest.run(),
    }
}

/// Prints a line to standard output. A closed pipe is ignored: the exit code is still returned.
fn print(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Xtask;

    #[test]
    fn the_book_lists_every_command() {
        let page = include_str!("../../../docs/reference/commands.md");
        let missing: Vec<_> = Xtask::command()
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .filter(|name| {
                let forms = [format!("`{name}`"), format!("`{name} "), format!("`cargo xtask {name}")];
                !forms.iter().any(|form| page.contains(form))
            })
            .collect();
        assert!(missing.is_empty(), "docs/reference/commands.md lacks {missing:?}");
    }
}
