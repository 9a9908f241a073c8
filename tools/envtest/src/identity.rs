//! A process as another one remembers it: its pid, and when it started, for a pid may have been reused since.

use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context, Result, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// How long a process may take to end by itself, before it is killed.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a killed process may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// A process that runs, or ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pid: u32,
    /// In whatever form the system tells it; it is only compared.
    started: String,
}

impl Identity {
    pub(crate) fn of(pid: u32) -> Result<Identity> {
        let started = start_time(pid)?.with_context(|| format!("process {pid} is gone"))?;
        Ok(Identity { pid, started })
    }

    /// Whether that very process still runs.
    pub(crate) fn is_running(&self) -> Result<bool> {
        Ok(start_time(self.pid)?.as_ref() == Some(&self.started))
    }

    /// Stops that very process; one that is gone is left at that.
    pub(crate) fn stop(&self) -> Result<()> {
        if !self.is_running()? {
            return Ok(());
        }
        stop(self.pid, || Ok(!self.is_running()?))
    }
}

/// Asks a process to end and waits until it is `gone`; kills it when it takes too long.
pub(crate) fn stop(pid: u32, mut gone: impl FnMut() -> Result<bool>) -> Result<()> {
    for (signal, patience) in [(Signal::TERM, PATIENCE), (Signal::KILL, KILL_PATIENCE)] {
        send(pid, signal)?;
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if gone()? {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }
    ensure!(gone()?, "process {pid} does not end, even when killed");
    Ok(())
}

fn send(pid: u32, signal: Signal) -> Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).with_context(|| format!("{pid} is not a pid"))?;
    match kill_process(pid, signal) {
        // Gone already, which is what the signal is for.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(io::Error::from(error)).with_context(|| format!("cannot signal process {pid}")),
    }
}

/// When a process started; `None` when there is none of that pid, or only a zombie.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Result<Option<String>> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => Ok(start_time_in_stat(&stat)),
        // ESRCH is what a process answers that ends between the opening and the reading.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot look at process {pid}")),
    }
}

/// The 22nd field of `/proc/<pid>/stat`. The second is the program's name in parentheses, which may hold anything.
#[cfg(target_os = "linux")]
fn start_time_in_stat(stat: &str) -> Option<String> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18).map(str::to_owned))?
}

/// When a process started; `None` when there is none of that pid, or only a zombie.
#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Result<Option<String>> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .context("cannot run ps")?;
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

    fn sleeper() -> Child {
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
    fn a_running_process_is_the_one_it_was() {
        assert!(Identity::of(id()).unwrap().is_running().unwrap());
    }

    #[test]
    fn a_stopped_process_is_gone() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).unwrap();
        // The child stays a zombie until this test waits for it.
        identity.stop().unwrap();
        assert!(!identity.is_running().unwrap());
        child.wait().unwrap();
        identity.stop().unwrap();
    }

    #[test]
    fn a_reused_pid_is_never_signalled() {
        let mut child = sleeper();
        let other = Identity { pid: child.id(), started: "another time".to_owned() };
        assert!(!other.is_running().unwrap());
        other.stop().unwrap();
        assert!(Identity::of(child.id()).unwrap().is_running().unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
