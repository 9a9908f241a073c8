//! The execution of a plan: it is formatted, printed and written.

use std::{error::Error, path::Path, process::ExitCode};

use super::{formatter, git, writer};
use crate::{
    scaffold::{Plan, Problems, Tree},
    workspace::Workspace,
};

/// The files in which uncommitted changes prevent others. Cargo writes Cargo.lock before any command of a new project.
const SOURCES: &[&str] = &[".", ":(exclude)Cargo.lock"];

/// Options of the commands that change a project.
#[derive(Clone, Debug, clap::Args)]
pub struct Changes {
    /// Print the plan without writing any file.
    #[arg(long)]
    pub dry_run: bool,
    /// Change the project although git reports uncommitted changes, or cannot restore the files of an update.
    #[arg(long)]
    pub allow_dirty: bool,
}

impl Changes {
    /// Plans and executes a change of a project. A plan without steps is executed in any tree.
    pub(super) fn run(
        &self,
        workspace: &Workspace<'_>,
        plan: impl FnOnce(&Tree) -> Result<Plan, Problems>,
    ) -> ExitCode {
        let tree = match workspace.tree() {
            Ok(tree) => tree,
            Err(error) => return failed(&error),
        };
        let mut problems = Problems::default();
        let planned = plan(&tree);
        let changes = planned.as_ref().map_or(true, |plan| !plan.steps.is_empty());
        if changes
            && !self.allow_dirty
            && !self.dry_run
            && git::has_changes(workspace.root(), SOURCES, false).unwrap_or(false)
        {
            problems.add("git reports uncommitted changes; commit or stash them, or use `--allow-dirty`");
        }
        let plan = match planned {
            Ok(plan) => problems.or(plan),
            Err(others) => {
                problems.0.extend(others.0);
                Err(problems)
            }
        };
        match plan {
            Ok(plan) => {
                finish(workspace.root(), plan, self.dry_run, "next: `cargo xtask codegen`, `cargo xtask manifests`")
            }
            Err(problems) => failed(&problems),
        }
    }
}

/// Formats, prints and writes a plan, and prints what comes next. The exit code is 1 if the plan has conflicts.
pub(super) fn finish(root: &Path, plan: Plan, dry_run: bool, next: &str) -> ExitCode {
    if plan.steps.is_empty() {
        println!("nothing to do: the project is as requested");
        return ExitCode::SUCCESS;
    }
    let exit_code = ExitCode::from(u8::from(plan.has_conflicts()));
    if dry_run {
        print!("{plan}");
        return exit_code;
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
    exit_code
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
