//! Commands of cargo in a clean environment.

use std::{ffi::OsStr, path::Path, process::Command};

/// Returns a command of the cargo that runs this program.
pub(crate) fn command(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = kubewright_project::workspace::cargo(args);
    command.current_dir(directory);
    command
}
