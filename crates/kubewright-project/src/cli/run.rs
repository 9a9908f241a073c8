//! The execution of a plan: it is formatted, printed and written.

use std::{error::Error, path::Path, process::ExitCode};

use super::{formatter, git, writer};
use crate::{
    scaffold::{Plan, Problems, Tree, overwritten},
    workspace::Workspace,
};

/// Options of the commands that change a project.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Changes {
    /// Print the plan without writing any file.
    #[arg(long)]
    pub dry_run: bool,
    /// Replace and remove files although they have uncommitted changes.
    #[arg(long)]
    pub allow_dirty: bool,
}

impl Changes {
    /// Plans and executes a change of a project.
    pub(super) fn run(
        &self,
        workspace: &Workspace<'_>,
        plan: impl FnOnce(&Tree) -> Result<Plan, Problems>,
    ) -> ExitCode {
        let tree = match workspace.tree() {
            Ok(tree) => tree,
            Err(error) => return failed(&error),
        };
        match plan(&tree).and_then(|plan| self.check_committed(workspace.root(), &tree, plan)) {
            Ok(plan) => {
                finish(workspace.root(), plan, self.dry_run, "next: `cargo xtask codegen`, `cargo xtask manifests`")
            }
            Err(problems) => failed(&problems),
        }
    }
}

impl Changes {
    /// Returns the plan, unless it replaces or removes contents of the user that git cannot restore. A project without
    /// a repository is not checked.
    fn check_committed(&self, root: &Path, tree: &Tree, plan: Plan) -> Result<Plan, Problems> {
        let mut problems = Problems::default();
        if !self.allow_dirty && !self.dry_run {
            for path in overwritten(tree, &plan)? {
                if git::has_changes(root, path).unwrap_or(false) {
                    problems.add(format!(
                        "{path} has uncommitted changes and would be overwritten; commit or stash them, or use \
                         `--allow-dirty`"
                    ));
                }
            }
        }
        problems.or(plan)
    }
}

/// Formats, prints and writes a plan, and prints what comes next.
pub(super) fn finish(root: &Path, plan: Plan, dry_run: bool, next: &str) -> ExitCode {
    if plan.steps.is_empty() {
        println!("nothing to do: the project is as requested");
        return ExitCode::SUCCESS;
    }
    if dry_run {
        print!("{plan}");
        return ExitCode::SUCCESS;
    }
    let plan = match formatter::format(root, plan) {
        Ok(plan) => plan,
        Err(error) => return failed(&Problems::from(error.to_string())),
    };
    if let Err(error) = ignore_interrupts() {
        return failed(&error);
    }
    if let Err(error) = writer::write(root, &plan) {
        return failed(&error);
    }
    print!("{plan}");
    println!("{next}");
    ExitCode::SUCCESS
}

/// Ignores Ctrl-C, SIGTERM and SIGHUP until the process ends: they would end it between two steps of a plan. A handler
/// that the program has set with ctrlc is kept.
pub(super) fn ignore_interrupts() -> Result<(), ctrlc::Error> {
    match ctrlc::set_handler(|| {}) {
        Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        result => result,
    }
}

/// Prints an error.
pub(super) fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}
