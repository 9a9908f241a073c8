//! The operator as a process outside of the cluster.

use std::{
    io,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

/// How often the end of the process is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A running operator. It is in a process group that signals of the terminal do not reach, so that it can finalize
/// objects after Ctrl-C. It is killed on drop.
#[derive(Debug)]
pub struct Program(Child);

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An interrupt was received, and the program still runs.
    Interrupted,
    /// The program ended.
    Ended(ExitStatus),
}

impl Program {
    /// Starts the program.
    ///
    /// # Errors
    /// Fails if it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command.stdin(Stdio::null()).spawn().map(Program)
    }

    /// Waits until the program ends, or an interrupt is received.
    ///
    /// # Errors
    /// Fails if the operating system cannot report the state of the program.
    pub fn wait(&mut self, interrupts: &Receiver<()>) -> io::Result<Outcome> {
        loop {
            if let Some(outcome) = self.wait_for(POLL_INTERVAL, interrupts)? {
                return Ok(outcome);
            }
        }
    }

    /// Waits at most for this time for an interrupt, unless the program has ended; `None` if neither has happened.
    ///
    /// # Errors
    /// Fails if the operating system cannot report the state of the program.
    pub fn wait_for(&mut self, time: Duration, interrupts: &Receiver<()>) -> io::Result<Option<Outcome>> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(Some(Outcome::Ended(status)));
        }
        Ok(match interrupts.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => None,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Some(Outcome::Interrupted),
        })
    }

    /// Stops the program with SIGTERM, and waits until it ends. Another interrupt kills it.
    ///
    /// # Errors
    /// Fails if the operating system cannot report the state of the program.
    pub fn stop(mut self, interrupts: &Receiver<()>) -> io::Result<()> {
        if self.0.try_wait()?.is_some() {
            return Ok(());
        }
        self.terminate()?;
        match self.wait(interrupts)? {
            Outcome::Ended(_) => Ok(()),
            Outcome::Interrupted => self.0.kill(),
        }
    }

    #[cfg(unix)]
    fn terminate(&self) -> io::Result<()> {
        let process = rustix::process::Pid::from_child(&self.0);
        Ok(rustix::process::kill_process(process, rustix::process::Signal::TERM)?)
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) -> io::Result<()> {
        self.0.kill()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
