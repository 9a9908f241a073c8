//! A server as a child process with its log in a file: started, watched, stopped.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

use crate::identity::{self, Identity};

/// How much of a log an error shows, and how far back it is looked for.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: u64 = 16 * 1024;

/// A running server. Dropping it ends it, in the way that fits how far it got, and waits for its end.
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
    on_drop: OnDrop,
}

enum OnDrop {
    /// A server that does not serve yet has nothing to lose, and an API server without its etcd is slow to end.
    Kill,
    Stop,
    LeaveRunning,
}

impl Process {
    /// Runs `command` with its output in `<dir>/<name>.log` and nothing from the environment: `ETCD_*` variables
    /// contradict etcd's flags, `KUBE_FEATURE_*` ones change the API that is served.
    pub(crate) fn spawn(name: &'static str, mut command: Command, dir: &Path) -> Result<Process> {
        let log = dir.join(format!("{name}.log"));
        let out = File::create(&log).with_context(|| format!("cannot create {}", log.display()))?;
        let child = command
            .env_clear()
            .current_dir(dir)
            .stdin(Stdio::null())
            .stderr(out.try_clone().context("cannot share the log file")?)
            .stdout(out)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Process { name, child, log, on_drop: OnDrop::Kill })
    }

    /// Fails when the server has ended, with what it said last.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait().with_context(|| format!("cannot look at {}", self.name))? {
            Some(status) => Err(Ended { name: self.name, status, tail: self.log_tail() }.into()),
            None => Ok(()),
        }
    }

    /// Notes that the server serves, and deserves a graceful end from now on.
    pub(crate) fn serves(&mut self) {
        self.on_drop = OnDrop::Stop;
    }

    /// The last lines of the log.
    pub(crate) fn log_tail(&self) -> String {
        tail(&self.log).unwrap_or_else(|error| format!("(no log: {error})"))
    }

    /// Stops the server, if it has not ended, and waits for its end.
    pub(crate) fn stop(&mut self) -> Result<()> {
        let Process { name, child, .. } = self;
        if ended(child)? {
            return Ok(());
        }
        identity::stop(child.id(), || ended(child)).with_context(|| format!("cannot stop {name}"))
    }

    /// What another process needs to stop this one.
    pub(crate) fn identity(&self) -> Result<Identity> {
        Identity::of(self.child.id())
    }

    /// Lets the server outlive this process.
    pub(crate) fn leave_running(mut self) {
        self.on_drop = OnDrop::LeaveRunning;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let outcome = match self.on_drop {
            OnDrop::Kill => kill(&mut self.child),
            OnDrop::Stop => self.stop(),
            OnDrop::LeaveRunning => Ok(()),
        };
        if let Err(error) = outcome {
            eprintln!("envtest: {error:#}");
        }
    }
}

/// A server that should run has ended.
#[derive(Debug, thiserror::Error)]
#[error("{name} ended ({status}); the end of its log:\n{tail}")]
pub(crate) struct Ended {
    name: &'static str,
    status: ExitStatus,
    tail: String,
}

impl Ended {
    /// Whether it ended because another program listens on its port.
    pub(crate) fn port_was_taken(&self) -> bool {
        self.tail.contains("address already in use")
    }
}

fn ended(child: &mut Child) -> Result<bool> {
    Ok(child.try_wait()?.is_some())
}

fn kill(child: &mut Child) -> Result<()> {
    child.kill().context("cannot kill a server")?;
    child.wait().context("cannot wait for a server")?;
    Ok(())
}

fn tail(log: &Path) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(last_lines(&String::from_utf8_lossy(&bytes), TAIL_LINES))
}

/// The last `count` lines of a text, or a word that says it has none.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.trim_end().lines().collect();
    match lines.as_slice() {
        [] => "(nothing)".to_owned(),
        lines => lines[lines.len().saturating_sub(count)..].join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a\n\n", 2), "a");
        assert_eq!(last_lines("\n", 2), "(nothing)");
    }

    #[test]
    fn a_long_log_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        fs::write(&log, "é".repeat(TAIL_BYTES as usize) + "\nlast\n").unwrap();
        let tail = tail(&log).unwrap();
        assert!(tail.ends_with("\nlast"));
        assert!(tail.len() as u64 <= TAIL_BYTES + 2);
    }

    #[test]
    fn a_server_that_ended_is_an_error_with_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo listen: bind: address already in use >&2; exit 3"]);
        let mut process = Process::spawn("server", command, dir.path()).unwrap();
        process.child.wait().unwrap();
        let error = process.check().unwrap_err();
        assert!(error.downcast_ref::<Ended>().unwrap().port_was_taken());
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_dropped_server_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        for serves in [false, true] {
            let mut command = Command::new("sleep");
            command.arg("60");
            let mut process = Process::spawn("server", command, dir.path()).unwrap();
            let identity = process.identity().unwrap();
            if serves {
                process.serves();
            }
            drop(process);
            assert!(!identity.is_running().unwrap());
        }
    }
}
