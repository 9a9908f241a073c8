//! Waiting until a control plane is ready, with a deadline and cancellation.

use std::{
    net::TcpStream,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    process::Process,
    servers::loopback,
};

/// How long a control plane may take to become ready.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
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
                let log = processes.last().map(|process| process.log_tail()).unwrap_or_default();
                return Err(Error::NotReady { log });
            }
            thread::sleep(POLL);
        }
    }
}

/// Fails if the operation is cancelled.
pub fn check(cancelled: &AtomicBool) -> Result<()> {
    if cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&loopback(port), CONNECT).is_ok()
}

fn is_served(mut kubectl: Command, path: &str) -> Result<bool> {
    let output = kubectl.args(["get", "--request-timeout=5s", "--raw", path]).output();
    Ok(output.map_err(|error| Error::from_io("cannot run kubectl", error))?.status.success())
}
