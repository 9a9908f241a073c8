//! Commands of cargo in a clean environment.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::Path,
    process::Command,
};

/// Returns a command of the cargo that runs this program. The variables about this package are removed, since build
/// scripts that depend on them would run again.
pub(crate) fn command(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(args).current_dir(directory);
    let is_package_variable = |name: &OsString| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for name in env::vars_os().map(|(name, _)| name).filter(is_package_variable) {
        command.env_remove(name);
    }
    command
}
