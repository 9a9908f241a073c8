//! `cargo xtask chart`: the Helm chart in `charts/`.

use std::process::ExitCode;

use kubewright_codegen::write_files;

use super::failed;
use crate::{helm::MARK, workspace::Workspace};

/// Options of `chart`.
#[derive(Clone, Debug, clap::Args)]
pub struct Chart {
    /// Compare the files with the tree, and list those that are out of date.
    #[arg(long)]
    pub check: bool,
}

impl Chart {
    /// Writes the files, or checks them. All are rendered before the first is written.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let chart = match workspace.chart() {
            Ok(chart) => chart,
            Err(error) => return failed(&error),
        };
        match chart.render() {
            Ok(files) => write_files(workspace.root(), &chart.directory(), MARK, &files, "chart", self.check),
            Err(error) => failed(&error),
        }
    }
}
