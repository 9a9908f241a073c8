//! A program that a suite runs: its output in files, and a limit of its time.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::paths;

const POLL: Duration = Duration::from_millis(50);
/// How long a program may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// The number of lines that are shown of the output of a failed program.
const SHOWN_LINES: usize = 30;

/// A running program. Dropping it kills the program.
pub(crate) struct Program {
    child: Child,
}

impl Program {
    /// Starts a program without input.
    pub(crate) fn start(command: &mut Command, stdout: File, stderr: File) -> Result<Program> {
        let child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn();
        let child = child.with_context(|| format!("cannot run {}", command.get_program().display()))?;
        Ok(Program { child })
    }

    /// Waits until the program has ended or the condition is true. Returns the status of an ended program.
    ///
    /// Fails if neither happens in the limit.
    pub(crate) fn wait_until(
        &mut self,
        limit: Duration,
        mut condition: impl FnMut() -> bool,
    ) -> Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().context("cannot inspect a program")? {
                return Ok(Some(status));
            }
            if condition() {
                return Ok(None);
            }
            if start.elapsed() >= limit {
                bail!("timed out after {} s", limit.as_secs());
            }
            thread::sleep(POLL);
        }
    }

    /// Terminates the program, waits for its end, and kills it after a timeout.
    pub(crate) fn stop(&mut self) -> Result<Option<ExitStatus>> {
        // It can have ended in the meantime.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        self.wait_until(STOP_TIMEOUT, || false)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail if it has ended and was waited for.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a program to its end, and returns its status. Its standard output is written to the file, and its standard
/// error to another one with the extension `err`. Fails if it does not end in the limit.
pub(crate) fn run(command: &mut Command, output: &Path, limit: Duration) -> Result<ExitStatus> {
    let name = command.get_program().display().to_string();
    let mut program = Program::start(command, create(output)?, create(&errors(output))?)?;
    let status = match program.wait_until(limit, || false) {
        Ok(status) => status,
        Err(error) => {
            // It can stop what it has started.
            drop(program.stop());
            return Err(error.context(format!("{name} does not end; its output is in {}", output.display())));
        }
    };
    status.with_context(|| format!("{name} has no status"))
}

/// Returns the path of a file for the output of a program.
pub(crate) fn log(name: &str) -> Result<PathBuf> {
    let directory = paths::home()?.join("logs");
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory.join(format!("{name}.out")))
}

/// Creates an empty file for output.
pub(crate) fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot create {}", path.display()))
}

/// Returns the end of the output of a program, of its standard error if there is some.
pub(crate) fn tail(output: &Path) -> String {
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    let errors = read(&errors(output)).unwrap_or_default();
    let text = if errors.is_empty() { read(output).unwrap_or_default() } else { errors };
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

fn errors(output: &Path) -> PathBuf {
    output.with_extension("err")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_is_in_files() {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("a.b.out");
        let status = run(&mut shell("echo out; echo err >&2; exit 3"), &output, STOP_TIMEOUT).unwrap();
        assert_eq!(status.code(), Some(3));
        assert_eq!(fs::read_to_string(&output).unwrap(), "out\n");
        assert_eq!(tail(&output), "err");
        run(&mut shell("seq 40"), &output, STOP_TIMEOUT).unwrap();
        assert_eq!(tail(&output).lines().next(), Some("11"));
    }

    #[test]
    fn a_program_that_does_not_end_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("out");
        let error = run(&mut shell("exec sleep 60"), &output, Duration::ZERO).unwrap_err();
        assert!(format!("{error:#}").ends_with("timed out after 0 s"), "{error:#}");
    }

    #[test]
    fn a_program_is_stopped_when_a_condition_is_true() {
        let directory = tempfile::tempdir().unwrap();
        let file = || create(&directory.path().join("out")).unwrap();
        let mut program =
            Program::start(&mut shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done"), file(), file())
                .unwrap();
        let is_ready = || fs::read_to_string(directory.path().join("out")).unwrap() == "ready\n";
        assert_eq!(program.wait_until(STOP_TIMEOUT, is_ready).unwrap(), None);
        assert_eq!(program.stop().unwrap().unwrap().code(), Some(7));
    }
}
