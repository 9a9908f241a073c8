//! `cargo xtask envtest`: the tests that need a real control plane.

use std::{
    env,
    ffi::OsString,
    path::PathBuf,
    process::{Command, ExitCode},
};

use super::failed;
use crate::workspace::cargo;

/// The environment variable with the directory of the binaries, as in `kubewright_envtest`.
const ASSETS: &str = "KUBEBUILDER_ASSETS";

/// Options of `envtest`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Envtest {
    /// Arguments of `cargo test`, such as `--test logger` or a part of the name of a test.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Why the tests do not start.
#[derive(Debug, thiserror::Error)]
enum EnvtestError {
    #[error(
        "{ASSETS} is not set to the directory of etcd, kube-apiserver and kubectl; get them with `setup-envtest use 1.36 \
         -p env`, whose output sets it: https://book.kubebuilder.io/reference/envtest"
    )]
    NotSet,
    #[error("{ASSETS} is `{}`, which is not a directory: {error}", path.display())]
    NotADirectory { path: PathBuf, error: std::io::Error },
    #[error("cannot run cargo: {0}")]
    Cargo(std::io::Error),
}

impl Envtest {
    /// Runs the tests with `#[ignore]`, and returns the exit code of cargo.
    pub(super) fn run(&self) -> ExitCode {
        let status = assets().and_then(|assets| {
            let status = self.command().env(ASSETS, assets).status();
            status.map_err(EnvtestError::Cargo)
        });
        match status {
            Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
            Err(error) => failed(&error),
        }
    }

    /// Returns the command. Examples in documentation can be ignored because they do not compile, so they do not run.
    fn command(&self) -> Command {
        let mut halves = self.arguments.splitn(2, |argument| argument == "--");
        let (of_cargo, of_tests) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
        let mut command = cargo(["test", "--workspace"]);
        match of_cargo {
            [] => command.arg("--tests"),
            arguments => command.args(arguments),
        };
        command.args(["--", "--ignored"]).args(of_tests);
        command
    }
}

/// Returns the directory of the binaries with an absolute path: each test runs in the directory of its package.
fn assets() -> Result<PathBuf, EnvtestError> {
    let path = env::var_os(ASSETS).filter(|path| !path.is_empty()).map(PathBuf::from).ok_or(EnvtestError::NotSet)?;
    match path.canonicalize() {
        Ok(absolute) if absolute.is_dir() => Ok(absolute),
        Ok(_) => Err(EnvtestError::NotADirectory { path, error: std::io::ErrorKind::NotADirectory.into() }),
        Err(error) => Err(EnvtestError::NotADirectory { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(arguments: &[&str]) -> Vec<String> {
        let envtest = Envtest { arguments: arguments.iter().map(OsString::from).collect() };
        envtest.command().get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn arguments_select_packages_and_tests() {
        assert_eq!(arguments(&[]), ["test", "--workspace", "--tests", "--", "--ignored"]);
        let selected = arguments(&["--test", "logger", "--", "--nocapture"]);
        assert_eq!(selected, ["test", "--workspace", "--test", "logger", "--", "--ignored", "--nocapture"]);
    }
}
