//! Writes generated files, or checks the tree for drift.

use std::{path::Path, process::ExitCode};

use anyhow::Result;

use super::{print::print, report};
use crate::{
    crd,
    layout::Layout,
    output::{File, Plan},
};

/// Writes the files, or compares them with the tree if `check` is set.
pub(super) fn write_or_check(root: &Path, files: &[File], layout: &Layout, check: bool) -> Result<ExitCode> {
    let plan = Plan::new(root, files, layout)?;
    if layout.crd.kustomization {
        plan.ensure_not_foreign(&crd::kustomization::path(layout), layout)?;
    }
    write_or_check_plan(&plan, files.len(), check, "codegen")
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
