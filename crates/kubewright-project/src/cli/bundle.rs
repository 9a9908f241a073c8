//! `cargo xtask bundle`: a bundle for Operator Lifecycle Manager, and its validation.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use kubewright_codegen::{File, write_files};

use super::{Output, failed, print};
use crate::{
    olm::{self, BUNDLE_MARK, Bundle, BundleOptions, Finding, Level},
    workspace::Workspace,
};

/// The directory of the bundle, relative to the root of the project.
pub(super) const DIRECTORY: &str = "bundle";

/// Options of `bundle`.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BundleArgs {
    /// A command other than rendering.
    #[command(subcommand)]
    pub action: Option<BundleAction>,
    /// The version of the bundle [default: that of the package of the operator].
    #[arg(long)]
    pub version: Option<String>,
    /// The channels, separated by commas; the first is the default of the package [default: those of the settings].
    #[arg(long, value_delimiter = ',')]
    pub channels: Vec<String>,
    /// The time of the release, such as `2026-01-31T12:00:00Z`. Without it, equal projects give equal bundles.
    #[arg(long, value_name = "TIME")]
    pub created_at: Option<String>,
    /// Compare the files with the tree, and list those that are out of date.
    #[arg(long)]
    pub check: bool,
}

/// Commands of `bundle` other than rendering.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum BundleAction {
    /// Validate a bundle of any origin, by the rules of the Operator SDK, OperatorHub and OLM v1.
    Validate(ValidateArgs),
}

/// Options of `bundle validate`.
#[derive(Clone, Debug, clap::Args)]
pub struct ValidateArgs {
    /// The directory of the bundle [default: `bundle` of the project].
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The format of the findings.
    #[arg(long, short, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

impl BundleArgs {
    /// Renders or validates a bundle.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        if let Some(BundleAction::Validate(args)) = &self.action {
            return args.run(workspace);
        }
        match self.render(workspace) {
            Ok(files) => write_files(workspace.root(), DIRECTORY, BUNDLE_MARK, &files, "bundle", self.check),
            Err(error) => failed(&*error),
        }
    }

    fn render(&self, workspace: &Workspace<'_>) -> Result<Vec<File>, Box<dyn std::error::Error>> {
        let project = workspace.project()?;
        let package = workspace.package(&project.settings)?;
        let sources = workspace.sources(&project.settings)?;
        let options = BundleOptions {
            version: self.version.clone(),
            channels: self.channels.clone(),
            created_at: self.created_at.clone(),
        };
        Ok(olm::bundle(&project, &package, &sources, &options)?)
    }
}

impl ValidateArgs {
    /// Prints the findings. The exit code is 1 if one of them is an error.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let directory = directory(self.directory.as_deref(), workspace);
        let findings = match Bundle::read(&directory) {
            Ok(bundle) => olm::validate(&bundle),
            Err(error) => return failed(&error),
        };
        match self.output {
            Output::Text => print(&report(&findings)),
            Output::Json => print(&format!("{:#}", serde_json::json!(findings))),
        }
        ExitCode::from(u8::from(findings.iter().any(|finding| finding.level == Level::Error)))
    }
}

/// Returns the directory of a bundle.
pub(super) fn directory(directory: Option<&Path>, workspace: &Workspace<'_>) -> PathBuf {
    directory.map_or_else(|| workspace.root().join(DIRECTORY), Path::to_owned)
}

fn report(findings: &[Finding]) -> String {
    let mut lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    let errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    lines.push(format!("{errors} errors, {} warnings", findings.len() - errors));
    lines.join("\n")
}
