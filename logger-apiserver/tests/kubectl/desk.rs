//! Where a script is typed: a directory with its files, a kubeconfig, and a shell

use std::{
    fmt,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::script::{Line, Script, Watch};

/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The directory of the generated manifests.
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config");

/// What was said to a line.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.out)?;
        if !self.err.is_empty() {
            write!(f, "-- on stderr\n{}", self.err)?;
        }
        if self.code != Some(0) {
            writeln!(f, "-- exit code {:?}", self.code)?;
        }
        Ok(())
    }
}

/// A directory to type in.
pub(crate) struct Desk {
    directory: TempDir,
    path: String,
}

impl Desk {
    /// One at which kubectl speaks to a server.
    pub(crate) fn new(tools: &Path, kubeconfig: &Path) -> Result<Self, Failed> {
        let directory = tempfile::tempdir()?;
        std::fs::copy(kubeconfig, directory.path().join("kubeconfig"))?;
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        Ok(Self { directory, path })
    }

    /// Types all lines of a script, and returns what was said to each.
    pub(crate) fn run(&self, script: &Script) -> Result<Vec<Said>, Failed> {
        for (name, text) in &script.files {
            std::fs::write(self.directory.path().join(name), text)?;
        }
        let run = |line: &Line| match line {
            Line::Command(line) => self.say(line),
            Line::Watch(watch) => self.watch(watch),
        };
        script.lines.iter().map(run).collect()
    }

    /// Types a line, and waits for the end of it.
    pub(crate) fn say(&self, line: &str) -> Result<Said, Failed> {
        let mut child = self.spawn(line)?;
        let (out, err) = (lines(child.stdout.take()), lines(child.stderr.take()));
        let said = rest(&out).and_then(|out| Ok(Said { code: None, out, err: rest(&err)? }));
        let code = end(child, said.is_err())?;
        let said = said.map_err(|()| format!("{line}: no end after {PATIENCE:?}"))?;
        Ok(Said { code: code.code(), ..said })
    }

    /// Types a line that goes on, others meanwhile, and stops it when it has said a line to each of them.
    fn watch(&self, watch: &Watch) -> Result<Said, Failed> {
        let mut child = self.spawn(&format!("exec {}", watch.watch))?;
        let (out, err) = (lines(child.stdout.take()), lines(child.stderr.take()));
        let mut said = take(&out, watch.after);
        for line in &watch.then {
            self.say(line)?;
            said.push_str(&take(&out, 1));
        }
        end(child, true)?;
        Ok(Said { code: Some(0), out: said, err: rest(&err).unwrap_or_default() })
    }

    fn spawn(&self, line: &str) -> Result<Child, Failed> {
        let here = self.directory.path();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(here).process_group(0).stdin(Stdio::null());
        shell.env("KUBECONFIG", here.join("kubeconfig")).env("HOME", here).env("PATH", &self.path);
        shell.env("CONFIG", CONFIG).env("LC_ALL", "C").env("TZ", "UTC");
        Ok(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }
}

/// The end of a line's processes: waited for, or brought about.
fn end(mut child: Child, now: bool) -> Result<ExitStatus, Failed> {
    if now {
        Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
    }
    Ok(child.wait()?)
}

/// What is said on a stream, line by line.
fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    let stream = stream.map(BufReader::new);
    thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let said = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if send.send(said).is_err() {
                return;
            }
        }
    });
    lines
}

/// So many lines, or as many as come in time.
fn take(lines: &Receiver<String>, count: usize) -> String {
    (0..count).map_while(|_| lines.recv_timeout(PATIENCE).ok()).collect()
}

/// All lines to the end, which has to come in time.
fn rest(lines: &Receiver<String>) -> Result<String, ()> {
    let mut rest = String::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => rest.push_str(&line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(rest),
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(()),
        }
    }
}
