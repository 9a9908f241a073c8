//! Other programs of the workspace, started through cargo.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The directory of the workspace's own Cargo.toml.
pub(crate) fn workspace_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The cargo that runs us, in the workspace. What it told us about our own package is not passed on: build scripts that look
/// at it would run again, and all that depends on them be compiled again, whenever one started this way follows another.
pub(crate) fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(args).current_dir(workspace_root());
    let of_our_package = |name: &OsString| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for name in std::env::vars_os().map(|(name, _)| name).filter(of_our_package) {
        command.env_remove(name);
    }
    command
}

/// Runs the program of a package where the user stands, and ends as it ends.
pub(crate) fn run_package(package: &str, args: &[OsString]) -> ExitCode {
    let manifest = workspace_root().join("Cargo.toml");
    let mut cargo = command(["run", "--package", package, "--manifest-path"]);
    cargo.arg(manifest).arg("--").args(args);
    if let Ok(here) = std::env::current_dir() {
        cargo.current_dir(here);
    }
    match cargo.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: cannot start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
