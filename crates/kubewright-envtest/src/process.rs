//! A server as a child process with its log in a file.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::{
    error::{Error, Result},
    identity::{self, Identity},
};

/// The number of log lines in errors, and the number of bytes in which they are searched.
const TAIL_LINES: usize = 20;
const TAIL_BYTES: u64 = 16 * 1024;

/// A running server. Dropping it ends the process as its `OnDrop` specifies, and waits for its end.
pub struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
    on_drop: OnDrop,
}

/// How a server ends when it is dropped.
enum OnDrop {
    /// For servers that are not ready: they hold no data, and an API server without etcd stops slowly.
    Kill,
    Stop,
    LeaveRunning,
}

impl Process {
    /// Runs `command` with its output in `<dir>/<name>.log` and an empty environment:
    /// `ETCD_*` variables conflict with etcd's flags, and `KUBE_FEATURE_*` variables change the served API. Its home is
    /// `dir`: kwok reads a configuration from there.
    pub fn spawn(name: &'static str, mut command: Command, dir: &Path) -> Result<Process> {
        let log = dir.join(format!("{name}.log"));
        let out =
            File::create(&log).map_err(|error| Error::from_io(format!("cannot create {}", log.display()), error))?;
        let child = command
            .env_clear()
            .env("HOME", dir)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stderr(out.try_clone().map_err(|error| Error::from_io("cannot share the log file", error))?)
            .stdout(out)
            .spawn()
            .map_err(|error| Error::from_io(format!("cannot start {}", command.get_program().display()), error))?;
        Ok(Process { name, child, log, on_drop: OnDrop::Kill })
    }

    /// Fails with the end of the log if the server has ended.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(Error::ProcessEnded { name: self.name, status, log: self.log_tail() }),
            Ok(None) => Ok(()),
            Err(error) => Err(Error::from_io(format!("cannot inspect {}", self.name), error)),
        }
    }

    /// Marks the server as ready, so that dropping it stops it gracefully.
    pub fn mark_ready(&mut self) {
        self.on_drop = OnDrop::Stop;
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the last lines of the log.
    pub fn log_tail(&self) -> String {
        tail(&self.log).unwrap_or_else(|error| format!("(no log: {error})"))
    }

    /// Stops the server if it has not ended, and waits for its end.
    pub fn stop(&mut self) -> Result<()> {
        let Process { name, child, .. } = self;
        identity::stop(child.id(), || Ok(child.try_wait()?.is_some()))
            .map_err(|error| Error::from_io(format!("cannot stop {name}"), error))
    }

    /// Returns the identity with which another process can stop the server.
    pub fn identity(&self) -> io::Result<Identity> {
        Identity::from_pid(self.child.id())
    }

    /// Leaves the server running when this process ends.
    pub fn leave_running(mut self) {
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
            eprintln!("envtest: {error:?}");
        }
    }
}

fn kill(child: &mut Child) -> Result<()> {
    child.kill().map_err(|error| Error::from_io("cannot kill a server", error))?;
    child.wait().map_err(|error| Error::from_io("cannot wait for a server", error))?;
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

/// Returns the last `count` lines of a text, or `(nothing)` if it has none.
pub fn last_lines(text: &str, count: usize) -> String {
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
    fn the_last_lines_are_returned() {
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
    fn an_ended_server_is_an_error_with_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo listen: bind: address already in use >&2; exit 3"]);
        let mut process = Process::spawn("server", command, dir.path()).unwrap();
        process.child.wait().unwrap();
        let error = process.check().unwrap_err();
        assert!(error.port_was_taken());
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_dropped_server_is_stopped() {
        let dir = tempfile::tempdir().unwrap();
        for is_ready in [false, true] {
            let mut command = Command::new("sleep");
            command.arg("60");
            let mut process = Process::spawn("server", command, dir.path()).unwrap();
            let identity = process.identity().unwrap();
            if is_ready {
                process.mark_ready();
            }
            drop(process);
            assert!(!identity.is_running().unwrap());
        }
    }
}
