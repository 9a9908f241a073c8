//! `cargo xtask update`: a project gets the current layout.

use std::{path::Path, process::ExitCode};

use super::{
    formatter, git,
    run::{Changes, failed, finish},
};
use crate::{
    scaffold::{self, Merged, Plan, Problems, Tools, Versions},
    workspace::{Workspace, WorkspaceError},
};

/// Options of `update`.
#[derive(Clone, Debug, clap::Args)]
pub struct Update {
    /// How the project is changed.
    #[command(flatten)]
    pub changes: Changes,
}

/// A project that cannot be updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The project cannot be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The update is not possible.
    #[error(transparent)]
    Problems(#[from] Problems),
}

impl Update {
    /// Updates the project. The exit code is 0 for success, 1 if the user needs to resolve conflicts, and 2 for an
    /// error, which is printed.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let next = "next: `git diff`, `cargo xtask codegen`, `cargo xtask manifests`";
        match self.plan(workspace) {
            Ok(plan) => finish(workspace.root(), plan, self.changes.dry_run, next),
            Err(error) => failed(&error),
        }
    }

    /// Plans the update. Nothing is written.
    ///
    /// # Errors
    /// Fails if the project cannot be read or merged, or if git cannot restore a file that the plan changes. This is
    /// not checked in a dry run and with `--allow-dirty`.
    pub fn plan(&self, workspace: &Workspace<'_>) -> Result<Plan, UpdateError> {
        let tree = workspace.tree()?;
        let paths = scaffold::update_paths(&tree)?;
        let tree = workspace.with_files(tree, paths)?;
        let plan = scaffold::update(&tree, &Programs(workspace.root()))?;
        if !self.changes.dry_run && !self.changes.allow_dirty {
            check_committed(workspace.root(), &plan)?;
        }
        Ok(plan)
    }
}

/// Checks that git can restore all files that a plan changes.
fn check_committed(root: &Path, plan: &Plan) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for step in &plan.steps {
        let path = step.path();
        match git::has_changes(root, &[path], true) {
            Ok(false) => {}
            Ok(true) => problems
                .add(format!("{path} has changes that are not in git; commit or stash them, or use `--allow-dirty`")),
            Err(error) => {
                let message = format!("git cannot restore files: {error}; commit the project, or use `--allow-dirty`");
                return Err(message.into());
            }
        }
    }
    problems.or(())
}

/// The programs of an update of the project in this directory.
struct Programs<'a>(&'a Path);

impl Tools for Programs<'_> {
    fn format(&self, path: &str, source: &str) -> Result<String, Problems> {
        formatter::rustfmt(self.0, path, source).map_err(|error| error.to_string().into())
    }

    fn merge(&self, versions: &Versions<'_>) -> Result<Merged, Problems> {
        git::merge(versions).map_err(|error| format!("cannot merge {}: {error}", versions.path).into())
    }
}
