//! Programs of this workspace, run by cargo.

#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::{
    ffi::OsString,
    io,
    process::{Command, ExitCode, ExitStatus},
};

pub(crate) use kubewright_project::workspace::{cargo as command, workspace_root};

/// Runs the program of a package in the current directory, and returns its exit code.
pub(crate) fn run_package(package: &str, args: &[OsString]) -> ExitCode {
    run(&["--package", package], args)
}

/// Builds programs with these features and those of the complete workspace, runs the first one in the current
/// directory, and returns its exit code.
pub(crate) fn run_programs(programs: &[&str], features: &str, args: &[OsString]) -> ExitCode {
    let Some(first) = programs.first() else { return ExitCode::FAILURE };
    let bins = programs.iter().flat_map(|program| ["--bin", *program]);
    match command(["build", "--workspace", "--features", features].into_iter().chain(bins)).status() {
        // Without a package, the features are those of the workspace.
        Ok(status) if status.success() => run(&["--quiet", "--features", features, "--bin", first], args),
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
