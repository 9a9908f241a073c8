//! Waiting until a control plane is ready, with a deadline and cancellation.

use std::{
    net::TcpStream,
    process::{Command, Output},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{process::Process, servers::loopback};

/// How long a control plane may take to become ready.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The interval between checks.
pub const POLL: Duration = Duration::from_millis(50);
const CONNECT: Duration = Duration::from_millis(500);

/// The wait for one control plane.
pub struct Wait<'a> {
    since: Instant,
    cancelled: &'a AtomicBool,
}

impl Wait<'_> {
    /// Starts the wait, which ends when `cancelled` is set.
    pub fn start(cancelled: &AtomicBool) -> Wait<'_> {
        Wait { since: Instant::now(), cancelled }
    }

    /// Waits until the process listens on the port.
    pub fn for_port(&self, port: u16, process: &mut Process) -> Result<()> {
        self.until(&mut [process], || Ok(listens(port)))
    }

    /// Waits until a server serves these paths to kubectl, one after another, and fails if one of `processes` ends. A
    /// timeout error contains the log of the last process.
    pub fn for_paths(
        &self,
        port: u16,
        kubectl: impl Fn() -> Command,
        paths: &[&str],
        processes: &mut [&mut Process],
    ) -> Result<()> {
        self.until(processes, || Ok(listens(port)))?;
        for path in paths {
            self.until(processes, || is_served(kubectl(), path))?;
        }
        Ok(())
    }

    fn until(&self, processes: &mut [&mut Process], mut reached: impl FnMut() -> Result<bool>) -> Result<()> {
        loop {
            check(self.cancelled)?;
            for process in processes.iter_mut() {
                process.check()?;
            }
            if reached()? {
                return Ok(());
            }
            if self.since.elapsed() >= TIMEOUT {
                bail!("not ready within {} s; {}", TIMEOUT.as_secs(), log_of_last(processes));
            }
            thread::sleep(POLL);
        }
    }
}

/// Fails if the operation is cancelled.
pub fn check(cancelled: &AtomicBool) -> Result<()> {
    ensure!(!cancelled.load(Ordering::Relaxed), "interrupted");
    Ok(())
}

fn log_of_last(processes: &[&mut Process]) -> String {
    processes.last().map(|process| format!("the end of its log:\n{}", process.log_tail())).unwrap_or_default()
}

fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&loopback(port), CONNECT).is_ok()
}

fn is_served(mut kubectl: Command, path: &str) -> Result<bool> {
    let Output { status, .. } =
        kubectl.args(["get", "--request-timeout=5s", "--raw", path]).output().context("cannot run kubectl")?;
    Ok(status.success())
}
