//! A program under test as a child process: signals, its exit code, and its open sockets.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, kill_process};

pub use rustix::process::Signal;

/// The limit of every wait.
pub const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// A running program. It is killed on drop.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    has_children: bool,
}

/// How a program ended.
#[derive(Debug)]
pub struct Exit {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it wrote to its standard error.
    pub errors: String,
}

impl Process {
    /// Starts a program. Its standard error is written to the file `log`, and its standard input stays open until
    /// [`wait`](Self::wait).
    ///
    /// # Errors
    /// Fails if the file cannot be created, or the program cannot be started.
    pub fn start(name: impl Into<String>, command: &mut Command, log: impl Into<PathBuf>) -> io::Result<Self> {
        let log = log.into();
        let errors = File::create(&log)?;
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors).spawn()?;
        Ok(Process { name: name.into(), child, log, has_children: false })
    }

    /// Declares that the program has child processes, which it stops after SIGTERM: on drop, it gets SIGTERM first.
    #[must_use]
    pub fn with_children(mut self) -> Self {
        self.has_children = true;
        self
    }

    /// Returns the name that the process was started with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Sends SIGSTOP, and returns when all threads are stopped.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn pause(&self) -> io::Result<()> {
        self.signal(Signal::STOP)?;
        wait_until(&format!("the pause of {}", self.name), || self.is_paused())
    }

    /// Sends SIGCONT.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn resume(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Returns whether the process has not ended.
    ///
    /// # Errors
    /// Fails if the operating system cannot report its state.
    pub fn is_running(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Closes the standard input, and waits for the end of the process.
    ///
    /// # Errors
    /// Fails if the process does not end within the [`TIMEOUT`].
    pub fn wait(mut self) -> io::Result<Exit> {
        drop(self.child.stdin.take());
        let what = format!("the end of {}", self.name);
        wait_until(&what, || Ok::<_, io::Error>(!self.is_running()?))?;
        Ok(Exit { code: self.child.wait()?.code(), errors: fs::read_to_string(&self.log)? })
    }

    /// Counts the open sockets of the process.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn open_sockets(&self) -> io::Result<usize> {
        let descriptors = fs::read_dir(self.proc("fd"))?.collect::<io::Result<Vec<_>>>()?;
        // A descriptor that was closed in the meantime has no target.
        let is_socket =
            |path: &Path| fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"));
        Ok(descriptors.iter().filter(|descriptor| is_socket(&descriptor.path())).count())
    }

    fn is_paused(&self) -> io::Result<bool> {
        for thread in fs::read_dir(self.proc("task"))? {
            // A thread that has ended in the meantime has no state.
            let Ok(stat) = fs::read_to_string(thread?.path().join("stat")) else { return Ok(false) };
            let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
            if state != Some('T') {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.child.id()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.has_children
            && self.is_running().is_ok_and(|is_running| is_running)
            && self.signal(Signal::TERM).is_ok()
        {
            // It is killed if it does not end.
            drop(wait_until("its end", || self.is_running().map(|is_running| !is_running)));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the ids of the processes whose environment contains a path.
///
/// # Errors
/// Fails if the operating system has no list of processes in `/proc`.
pub fn processes_with(path: &Path) -> io::Result<Vec<u32>> {
    let text = path.as_os_str().as_encoded_bytes();
    let contains = |environment: &[u8]| environment.windows(text.len()).any(|window| window == text);
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")? {
        let process = process?.path();
        let id = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        // A process that has ended in the meantime has no environment, and that of another user cannot be read.
        if let (Some(id), Ok(environment)) = (id, fs::read(process.join("environ")))
            && contains(&environment)
        {
            found.push(id);
        }
    }
    Ok(found)
}

/// Waits until a condition is true.
///
/// # Errors
/// Fails if the condition fails, or if it is not true within the [`TIMEOUT`].
pub fn wait_until<E: From<io::Error>>(what: &str, mut condition: impl FnMut() -> Result<bool, E>) -> Result<(), E> {
    let started = Instant::now();
    while !condition()? {
        if started.elapsed() > TIMEOUT {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("timed out waiting for {what}")).into());
        }
        sleep(POLL);
    }
    Ok(())
}
