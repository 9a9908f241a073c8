//! Cargo, as a user would start it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The cargo that runs us, in that directory. What it told us about our own package is not passed on: build scripts that look
/// at it would run again.
pub(crate) fn command(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(args).current_dir(directory);
    let of_our_package = |name: &OsString| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for name in env::vars_os().map(|(name, _)| name).filter(of_our_package) {
        command.env_remove(name);
    }
    command
}
