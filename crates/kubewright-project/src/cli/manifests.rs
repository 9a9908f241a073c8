//! `cargo xtask manifests`: the files of `config/`.

use std::process::ExitCode;

use kubewright_codegen::write_files;

use super::failed;
use crate::{
    config::{MARK, render},
    workspace::Workspace,
};

/// Options of `manifests`.
#[derive(Clone, Debug, clap::Args)]
pub struct Manifests {
    /// Compare the files with the tree, and list those that are out of date.
    #[arg(long)]
    pub check: bool,
}

impl Manifests {
    /// Writes the files, or checks them. All are rendered before the first is written.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let project = match workspace.project() {
            Ok(project) => project,
            Err(error) => return failed(&error),
        };
        match render(&project) {
            Ok(files) => write_files(workspace.root(), "config", MARK, &files, "manifests", self.check),
            Err(error) => failed(&error),
        }
    }
}
