//! Waiting until a control plane serves, with a deadline and a way to call it off.

use std::net::TcpStream;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::process::Process;
use crate::servers::loopback;

/// How long a control plane may take to serve.
const LIMIT: Duration = Duration::from_secs(60);
/// How often anything that is waited for is looked at.
pub(crate) const POLL: Duration = Duration::from_millis(50);
const CONNECT: Duration = Duration::from_millis(500);

/// What the API server must answer, in this order: a controller makes the namespace after the server calls itself ready.
const MUST_ANSWER: [&str; 2] = ["/readyz", "/api/v1/namespaces/default"];

/// A wait for a control plane: when it began, and who may call it off.
pub(crate) struct Wait<'a> {
    since: Instant,
    cancelled: &'a AtomicBool,
}

impl Wait<'_> {
    pub(crate) fn start(cancelled: &AtomicBool) -> Wait<'_> {
        Wait { since: Instant::now(), cancelled }
    }

    /// Waits until the only process given listens on the port.
    pub(crate) fn for_port(&self, port: u16, process: &mut Process) -> Result<()> {
        self.until(&mut [process], || Ok(listens(port)))
    }

    /// Waits until the API server answers everything it must. `processes` are looked after meanwhile; the last of them is
    /// the one to blame for a timeout.
    pub(crate) fn for_api(
        &self,
        port: u16,
        kubectl: impl Fn() -> Command,
        processes: &mut [&mut Process],
    ) -> Result<()> {
        self.until(processes, || Ok(listens(port)))?;
        for path in MUST_ANSWER {
            self.until(processes, || answers(kubectl(), path))?;
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
            if self.since.elapsed() >= LIMIT {
                bail!("not ready within {} s; {}", LIMIT.as_secs(), blame(processes));
            }
            thread::sleep(POLL);
        }
    }
}

/// Fails when the work has been called off.
pub(crate) fn check(cancelled: &AtomicBool) -> Result<()> {
    ensure!(!cancelled.load(Ordering::Relaxed), "interrupted");
    Ok(())
}

fn blame(processes: &[&mut Process]) -> String {
    processes.last().map(|process| format!("the end of its log:\n{}", process.log_tail())).unwrap_or_default()
}

fn listens(port: u16) -> bool {
    TcpStream::connect_timeout(&loopback(port), CONNECT).is_ok()
}

fn answers(mut kubectl: Command, path: &str) -> Result<bool> {
    let Output { status, .. } =
        kubectl.args(["get", "--request-timeout=5s", "--raw", path]).output().context("cannot run kubectl")?;
    Ok(status.success())
}
