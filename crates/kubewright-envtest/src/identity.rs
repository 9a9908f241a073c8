//! The identity of a process: its pid and its start time, since pids are reused.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process},
};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How long a process may take to end before it is killed.
const TERM_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a killed process may take to end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// A process that runs or has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pid: u32,
    /// The start time in the format of the operating system, which is only compared.
    started: String,
}

impl Identity {
    /// Returns the identity of a running process.
    pub fn from_pid(pid: u32) -> io::Result<Identity> {
        let started = start_time(pid)?.ok_or_else(|| io::Error::other(format!("process {pid} does not exist")))?;
        Ok(Identity { pid, started })
    }

    /// Reports whether this process still runs.
    pub fn is_running(&self) -> io::Result<bool> {
        Ok(start_time(self.pid)?.as_ref() == Some(&self.started))
    }

    /// Stops this process if it still runs.
    pub fn stop(&self) -> io::Result<()> {
        stop(self.pid, || Ok(!self.is_running()?))
    }
}

/// Terminates a process unless it `has_ended`, and waits until it has; kills it after a timeout.
pub(crate) fn stop(pid: u32, mut has_ended: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    if has_ended()? {
        return Ok(());
    }
    for (signal, timeout) in [(Signal::TERM, TERM_TIMEOUT), (Signal::KILL, KILL_TIMEOUT)] {
        send(pid, signal)?;
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            if has_ended()? {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }
    if has_ended()? { Ok(()) } else { Err(io::Error::other(format!("process {pid} does not end even after SIGKILL"))) }
}

fn send(pid: u32, signal: Signal) -> io::Result<()> {
    let invalid = || io::Error::other(format!("{pid} is not a pid"));
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(invalid)?;
    match kill_process(pid, signal) {
        // The process has ended already.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(io::Error::other(Error::from_io(format!("cannot signal process {pid}"), error.into()))),
    }
}

/// Returns the start time of a process; `None` if it does not exist or is a zombie.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> io::Result<Option<String>> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => Ok(start_time_in_stat(&stat)),
        // Reading fails with ESRCH if the process ends after the file was opened.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(io::Error::other(Error::from_io(format!("cannot inspect process {pid}"), error))),
    }
}

/// Returns the 22nd field of `/proc/<pid>/stat`. The second is the name of the program in parentheses, which can
/// contain any character.
#[cfg(target_os = "linux")]
fn start_time_in_stat(stat: &str) -> Option<String> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18).map(str::to_owned))?
}

/// Returns the start time of a process; `None` if it does not exist or is a zombie.
#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> io::Result<Option<String>> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .map_err(|error| io::Error::other(Error::from_io("cannot run ps", error)))?;
    let line = String::from_utf8_lossy(&output.stdout);
    Ok(line
        .trim()
        .split_once(' ')
        .filter(|(state, _)| !state.starts_with('Z'))
        .map(|(_, start)| start.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, id};

    use super::*;

    fn spawn_sleep() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_name_with_parentheses_does_not_shift_the_fields() {
        let numbers = (4..=52).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(start_time_in_stat(&format!("7 (a) R (b) S {numbers}")), Some("22".to_owned()));
        assert_eq!(start_time_in_stat(&format!("7 (a) Z {numbers}")), None);
        assert_eq!(start_time_in_stat("7 (a) S 1"), None);
    }

    #[test]
    fn a_running_process_is_recognised() {
        assert!(Identity::from_pid(id()).unwrap().is_running().unwrap());
    }

    #[test]
    fn a_stopped_process_does_not_run() {
        let mut child = spawn_sleep();
        let identity = Identity::from_pid(child.id()).unwrap();
        // The child stays a zombie until this test waits for it.
        identity.stop().unwrap();
        assert!(!identity.is_running().unwrap());
        child.wait().unwrap();
        identity.stop().unwrap();
    }

    #[test]
    fn a_reused_pid_is_never_signalled() {
        let mut child = spawn_sleep();
        let other = Identity { pid: child.id(), started: "another time".to_owned() };
        assert!(!other.is_running().unwrap());
        other.stop().unwrap();
        assert!(Identity::from_pid(child.id()).unwrap().is_running().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
