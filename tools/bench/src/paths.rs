//! The directories of the workspace, of this crate and of the files that benchmarks write.

use std::{
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::Result;

static WORKSPACE_ROOT: OnceLock<PathBuf> = OnceLock::new();

/// Determines the workspace root, at run time as [`envtest::workspace_root`] does. Must be called before the other
/// functions.
pub(crate) fn init() -> Result<()> {
    let root = envtest::workspace_root()?;
    WORKSPACE_ROOT.get_or_init(|| root);
    Ok(())
}

/// Returns the root of the measured workspace.
pub(crate) fn workspace_root() -> &'static Path {
    WORKSPACE_ROOT.get().expect("`init` is called first")
}

/// Returns the directory of this crate, which is also the Go module that pins the Go tools.
pub(crate) fn crate_dir() -> PathBuf {
    workspace_root().join("tools/bench")
}

/// Returns the target directory of the workspace.
pub(crate) fn target_dir() -> PathBuf {
    // Relative to the root, since benchmarks start cargo there.
    workspace_root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns the directory of all files that benchmarks write.
pub(crate) fn home() -> PathBuf {
    target_dir().join("bench")
}
