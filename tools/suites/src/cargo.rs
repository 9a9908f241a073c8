//! Test binaries of Rust packages, built by cargo and run by themselves.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{libtest, outcome::Outcomes, program};

/// How long the tests of a binary may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Builds the test binary that cargo selects with these arguments, and returns its path. Cargo prints its progress.
pub(crate) fn build_tests(args: &[impl AsRef<OsStr>], env: &[(&str, &str)]) -> Result<PathBuf> {
    let mut cargo =
        kubewright_project::workspace::cargo(["test", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output = cargo.args(args).envs(env.iter().copied()).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo failed: {}", output.status);
    executable(&String::from_utf8_lossy(&output.stdout)).context("cargo reports no test binary")
}

/// Returns the path of the test binary in the messages of cargo, which also name the programs that it runs.
fn executable(messages: &str) -> Option<PathBuf> {
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().filter(|_| message["profile"]["test"] == true).map(PathBuf::from)
    });
    executables.next_back()
}

/// Runs a test binary in the directory of its package, and returns the outcomes. `log` names the files with the output.
pub(crate) fn run_tests(command: &mut Command, package: &Path, log: &str) -> Result<Outcomes> {
    let output = program::log(log)?;
    // Fails if a test fails.
    program::run(command.current_dir(package).env("CARGO_MANIFEST_DIR", package), &output, LIMIT)?;
    let text = fs::read(&output).with_context(|| format!("cannot read {}", output.display()))?;
    let outcomes = libtest::parse(&String::from_utf8_lossy(&text));
    ensure!(!outcomes.is_empty(), "{log} has run no test:\n{}", program::tail(&output));
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_that_of_a_test() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\nnote\n\
                        {\"executable\":\"/target/debug/deps/kube-1\",\"profile\":{\"test\":true}}\n\
                        {\"executable\":\"/target/debug/elector\",\"profile\":{\"test\":false}}\n\
                        {\"reason\":\"build-finished\"}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/target/debug/deps/kube-1")));
        assert_eq!(executable(""), None);
    }
}
