//! The directories of this crate and of the files that it writes.

use std::path::PathBuf;

use anyhow::Result;

/// Returns the directory of this crate.
pub(crate) fn crate_dir() -> Result<PathBuf> {
    Ok(envtest::workspace_root()?.join("tools/suites"))
}

/// Returns the directory of all files that suites write.
pub(crate) fn home() -> Result<PathBuf> {
    Ok(envtest::target_dir()?.join("suites"))
}
