//! A running program: its start until it is ready, its CPU time, its memory and its stop.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use bench::measure::memory_of;
use rustix::process::{Pid, Signal, kill_process};

use crate::program;

/// How long a program may take to be ready, and to stop.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
/// How long a garbage collection may take after its signal.
const COLLECTION: Duration = Duration::from_secs(1);

/// A running program. Dropping it kills the program.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
    has_garbage_collector: bool,
}

impl Process {
    /// Starts a program and waits until it prints `ready`. Returns the time that it took. Its log is written to the
    /// file.
    pub(crate) fn start(mut command: Command, log: &Path, has_garbage_collector: bool) -> Result<(Process, Duration)> {
        let start = Instant::now();
        let mut process = Process::spawn(command.stdout(Stdio::piped()), log, has_garbage_collector)?;
        let line = process.first_line()?;
        let taken = start.elapsed();
        ensure!(line == "ready\n", "the program printed {line:?} instead of `ready`; its log:\n{}", process.log());
        Ok((process, taken))
    }

    /// Starts a program without a garbage collector and waits until it is ready. Its log is written to the file.
    pub(crate) fn start_until(mut command: Command, log: &Path, mut is_ready: impl FnMut() -> bool) -> Result<Process> {
        let start = Instant::now();
        let mut process = Process::spawn(command.stdout(Stdio::null()), log, false)?;
        while !is_ready() {
            process.check()?;
            ensure!(start.elapsed() < TIMEOUT, process.not_ready());
            thread::sleep(POLL);
        }
        Ok(process)
    }

    fn spawn(command: &mut Command, log: &Path, has_garbage_collector: bool) -> Result<Process> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = command.stdin(Stdio::null()).stderr(file).spawn();
        let child = child.with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
        Ok(Process { child, log: log.to_owned(), has_garbage_collector })
    }

    fn first_line(&mut self) -> Result<String> {
        let output = self.child.stdout.take().context("the output of the program is not read")?;
        let (sender, receiver) = mpsc::channel();
        // Ends with the program at the latest.
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(output).read_line(&mut line);
            sender.send(read.map(|_| line))
        });
        let line = receiver.recv_timeout(TIMEOUT);
        line.map_err(|_| anyhow!(self.not_ready()))?.context("cannot read the output of the program")
    }

    fn not_ready(&self) -> String {
        format!("not ready within {} s; its log:\n{}", TIMEOUT.as_secs(), self.log())
    }

    /// Returns an error if the program has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("the program ended with {status}; its log:\n{}", self.log()),
            None => Ok(()),
        }
    }

    /// Returns the user and system CPU time since the start, in seconds.
    pub(crate) fn cpu_time(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        program::parse_cpu_time(&stat).with_context(|| format!("{path} contains no CPU time"))
    }

    /// Returns the resident memory after an idle time, in megabytes of 10^6 bytes. A garbage collector has returned
    /// what is unused to the system.
    pub(crate) async fn memory_after(&self, idle: Duration) -> Result<f64> {
        tokio::time::sleep(idle).await;
        if self.has_garbage_collector {
            self.signal(Signal::USR1)?;
            tokio::time::sleep(COLLECTION).await;
        }
        Ok(memory_of(&self.child.id().to_string(), "VmRSS"))
    }

    /// Returns the maximum of the resident memory since the start, in megabytes of 10^6 bytes.
    pub(crate) fn peak_memory(&self) -> f64 {
        memory_of(&self.child.id().to_string(), "VmHWM")
    }

    /// Stops the program as a cluster does, which must succeed.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the program ended with {status}; its log:\n{}", self.log());
                return Ok(());
            }
            thread::sleep(POLL);
        }
        bail!("the program does not stop within {} s; its log:\n{}", TIMEOUT.as_secs(), self.log())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal).context("cannot send a signal to the program")
    }

    /// Returns the last lines of the log.
    fn log(&self) -> String {
        program::last_lines(&fs::read_to_string(&self.log).unwrap_or_default())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> Result<(Process, Duration)> {
        let log = tempfile::NamedTempFile::new()?;
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, log.path(), false)
    }

    #[test]
    fn a_program_is_stopped_by_sigterm() {
        let (process, _) = start("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done").unwrap();
        assert!(process.cpu_time().unwrap() >= 0.0 && process.peak_memory() > 0.0);
        process.stop().unwrap();
    }

    #[test]
    fn a_program_is_ready_when_the_condition_is_true() {
        let directory = tempfile::tempdir().unwrap();
        let (log, file) = (directory.path().join("log"), directory.path().join("ready"));
        let mut command = Command::new("sh");
        command.arg("-c").arg("trap 'exit 0' TERM; touch \"$0\"; while :; do sleep 0.01; done").arg(&file);
        let process = Process::start_until(command, &log, || file.exists()).unwrap();
        process.stop().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such cluster >&2; exit 1"]);
        let error = Process::start_until(command, &log, || false).err().unwrap().to_string();
        assert!(error.contains("no such cluster"), "{error}");
    }

    #[test]
    fn the_error_of_a_program_that_ends_contains_its_log() {
        let error = start("echo no such cluster >&2; exit 1").err().unwrap().to_string();
        assert!(error.contains("no such cluster"), "{error}");
    }
}
