//! Cargo commands in this workspace.

#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
};

/// Returns the root of the workspace. It is determined at run time: checkouts that share a target directory share this
/// binary.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current_dir = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let start = manifest_dir.unwrap_or_else(current_dir);
    nearest_workspace(&start).unwrap_or(&start).to_owned()
}

/// Returns the nearest directory whose Cargo.toml has a `[workspace]`.
fn nearest_workspace(start: &Path) -> Option<&Path> {
    let has_workspace = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    start.ancestors().find(has_workspace)
}

/// Returns a command of the running cargo in the workspace. Variables about the package of this program are removed: build
/// scripts that depend on them would run again, and their dependents would be compiled again, after every such command.
pub(crate) fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(args).current_dir(workspace_root());
    let is_package_variable = |name: &OsString| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|prefix| name.starts_with(prefix))
    };
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_package_variable) {
        command.env_remove(name);
    }
    command
}

/// Runs the program of a package in the current directory, and returns its exit code.
pub(crate) fn run_package(package: &str, args: &[OsString]) -> ExitCode {
    run(&["--package", package], args)
}

/// Builds programs with the features of the complete workspace, runs the first one in the current directory, and returns
/// its exit code.
pub(crate) fn run_programs(programs: &[&str], args: &[OsString]) -> ExitCode {
    let Some(first) = programs.first() else { return ExitCode::FAILURE };
    let bins = programs.iter().flat_map(|program| ["--bin", *program]);
    match command(["build", "--workspace"].into_iter().chain(bins)).status() {
        // Without a package, the features are those of the workspace.
        Ok(status) if status.success() => run(&["--quiet", "--bin", first], args),
        status => exit_code(status),
    }
}

/// Runs `cargo run` in the current directory.
fn run(selection: &[&str], args: &[OsString]) -> ExitCode {
    let manifest = workspace_root().join("Cargo.toml");
    let mut cargo = command(["run"]);
    cargo.args(selection).arg("--manifest-path").arg(manifest).arg("--").args(args);
    if let Ok(directory) = std::env::current_dir() {
        cargo.current_dir(directory);
    }
    exit_code(execute(&mut cargo))
}

/// Replaces this process, so that the program receives its signals and this one does not end before it.
#[cfg(unix)]
fn execute(command: &mut Command) -> io::Result<ExitStatus> {
    Err(command.exec())
}

#[cfg(not(unix))]
fn execute(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

fn exit_code(status: io::Result<ExitStatus>) -> ExitCode {
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_root_is_the_nearest_directory_with_a_workspace() {
        let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
        assert_eq!(nearest_workspace(&package.join("src")), package.parent());
        assert_eq!(nearest_workspace(Path::new("/")), None);
    }
}
