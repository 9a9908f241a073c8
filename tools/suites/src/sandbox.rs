//! The environment of the programs of a suite: a temporary directory, and no settings of clients and servers. What they
//! leave running is stopped.

use std::{env, ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path, process::Command};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::paths;

/// The variable with the temporary directory, which programs pass to the programs that they start.
const VARIABLE: &str = "TMPDIR";
/// The prefixes of variables that change which server is used, or how it behaves.
const SETTINGS: [&str; 4] = ["ETCD_", "KUBE", "TEST_ASSET_", "USE_EXISTING_CLUSTER"];

/// The environment of the programs of a suite.
pub(crate) struct Sandbox {
    directory: TempDir,
}

impl Sandbox {
    /// Creates a sandbox with an empty temporary directory.
    pub(crate) fn new() -> Result<Sandbox> {
        let home = paths::home()?;
        let create = || {
            fs::create_dir_all(&home)?;
            tempfile::Builder::new().prefix("run-").tempdir_in(&home)
        };
        let directory = create().with_context(|| format!("cannot create a directory in {}", home.display()))?;
        Ok(Sandbox { directory })
    }

    /// Returns a program in the sandbox.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let is_setting = |name: &OsStr| SETTINGS.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()));
        for (name, _) in env::vars_os().filter(|(name, _)| is_setting(name)) {
            command.env_remove(name);
        }
        command.env(VARIABLE, self.directory.path());
        command
    }
}

impl Drop for Sandbox {
    /// Stops the programs that still run, such as the servers of a test that panicked.
    fn drop(&mut self) {
        for pid in processes_with(VARIABLE, self.directory.path()) {
            eprintln!("stopping process {}, which the suite left running", pid.as_raw_nonzero());
            // It can have ended in the meantime.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Returns the processes with this variable in their environment; none on systems without `/proc`.
fn processes_with(variable: &str, value: &Path) -> Vec<Pid> {
    let expected = [variable.as_bytes(), b"=", value.as_os_str().as_bytes()].concat();
    let pid = |process: fs::DirEntry| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        // A process that has ended in the meantime has no environment, and that of another user cannot be read.
        let environment = fs::read(process.path().join("environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|entry| entry == expected).then(|| Pid::from_raw(pid))?
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn programs_that_still_run_are_stopped() {
        let sandbox = Sandbox::new().unwrap();
        let directory = sandbox.directory.path().to_owned();
        let mut child = sandbox.command("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        // The shell, which becomes visible with its environment when it is started.
        while processes_with(VARIABLE, &directory).is_empty() {
            std::thread::yield_now();
        }
        drop(sandbox);
        assert!(!child.wait().unwrap().success());
        assert!(!directory.exists());
    }

    #[test]
    fn settings_are_not_passed_on() {
        let sandbox = Sandbox::new().unwrap();
        let mut command = sandbox.command("true");
        command.env("KUBECONFIG", "a");
        let variables: Vec<_> = command.get_envs().filter(|(_, value)| value.is_some()).map(|(name, _)| name).collect();
        assert_eq!(variables, ["KUBECONFIG", VARIABLE]);
    }
}
