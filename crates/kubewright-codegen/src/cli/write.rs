//! Writes generated files, or checks the tree for drift.

use std::{path::Path, process::ExitCode};

use anyhow::Result;

use super::{
    print::{exit_code, print},
    report,
};
use crate::{
    crd,
    layout::Layout,
    output::{File, Plan},
    policy,
};

/// Writes the files, or compares them with the tree if `check` is set.
pub(super) fn write_or_check(root: &Path, files: &[File], layout: &Layout, check: bool) -> Result<ExitCode> {
    let plan = Plan::new(root, files, layout)?;
    if layout.crd.kustomization {
        plan.ensure_not_foreign(&crd::kustomization::path(layout), layout)?;
        let of_policies = policy::kustomization_path(layout);
        if files.iter().any(|file| file.path == of_policies) {
            plan.ensure_not_foreign(&of_policies, layout)?;
        }
    }
    write_or_check_plan(&plan, files.len(), check, "codegen")
}

/// Writes the files that another command of an `xtask` generates into a directory, or compares them with the tree if
/// `check` is set, and prints what [`run`](super::codegen::run) does. Files of the directory whose first line ends with
/// the mark and that are not generated anymore are removed. Returns 0 for success, 1 for drift and 2 for an error.
pub fn write_files(root: &Path, directory: &str, mark: &str, files: &[File], command: &str, check: bool) -> ExitCode {
    let plan = Plan::below(root, directory, mark, files);
    exit_code(plan.and_then(|plan| write_or_check_plan(&plan, files.len(), check, command)))
}

/// Executes a plan, or reports drift and the command that removes it if `check` is set.
pub(super) fn write_or_check_plan(plan: &Plan<'_>, files: usize, check: bool, command: &str) -> Result<ExitCode> {
    if check {
        let drift = plan.drift()?;
        print(&report::drift(&drift, files, command));
        return Ok(ExitCode::from(u8::from(!drift.is_empty())));
    }
    print(&report::written(&plan.write()?));
    Ok(ExitCode::SUCCESS)
}
