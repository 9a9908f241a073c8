//! Runs the commands of a script in a shell, in a directory with its files and a kubeconfig.

use std::{
    fmt,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{self, Child, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::script::{Command, Script, Watch};

/// The limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The directory of the generated manifests, relative to the root of the workspace.
const CONFIG: &str = "config";

/// The output of a command.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "-- on stderr\n{}", self.stderr)?;
        }
        if self.code != Some(0) {
            writeln!(f, "-- exit code {:?}", self.code)?;
        }
        Ok(())
    }
}

/// A shell with a working directory.
pub(crate) struct Shell {
    directory: TempDir,
    path: String,
}

impl Shell {
    /// Creates a shell whose kubectl uses the server of a kubeconfig.
    pub(crate) fn new(tools: &Path, kubeconfig: &Path) -> Result<Self, Failed> {
        let directory = tempfile::tempdir()?;
        std::fs::copy(kubeconfig, directory.path().join("kubeconfig"))?;
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        Ok(Self { directory, path })
    }

    /// Runs all commands of a script, and returns their outputs.
    pub(crate) fn run_script(&self, script: &Script) -> Result<Vec<Output>, Failed> {
        for (name, text) in &script.files {
            std::fs::write(self.directory.path().join(name), text)?;
        }
        let run = |command: &Command| match command {
            Command::Line(line) => self.run(line),
            Command::Watch(watch) => self.watch(watch),
        };
        script.commands.iter().map(run).collect()
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, line: &str) -> Result<Output, Failed> {
        let mut child = self.spawn(line)?;
        let (stdout, stderr) = (lines(child.stdout.take()), lines(child.stderr.take()));
        let output = rest(&stdout).and_then(|stdout| Ok(Output { code: None, stdout, stderr: rest(&stderr)? }));
        let code = end(child, output.is_err())?;
        let output = output.map_err(|()| format!("{line}: not finished after {TIMEOUT:?}"))?;
        Ok(Output { code: code.code(), ..output })
    }

    /// Starts a command that watches, runs others meanwhile, and stops it when it has printed a line for each of them.
    fn watch(&self, watch: &Watch) -> Result<Output, Failed> {
        let mut child = self.spawn(&format!("exec {}", watch.watch))?;
        let (stdout_lines, stderr_lines) = (lines(child.stdout.take()), lines(child.stderr.take()));
        let mut stdout = take(&stdout_lines, watch.after);
        for line in &watch.then {
            self.run(line)?;
            stdout.push_str(&take(&stdout_lines, 1));
        }
        end(child, true)?;
        Ok(Output { code: Some(0), stdout, stderr: rest(&stderr_lines).unwrap_or_default() })
    }

    fn spawn(&self, line: &str) -> Result<Child, Failed> {
        let directory = self.directory.path();
        let mut shell = process::Command::new("sh");
        shell.args(["-c", line]).current_dir(directory).process_group(0).stdin(Stdio::null());
        shell.env("KUBECONFIG", directory.join("kubeconfig")).env("HOME", directory).env("PATH", &self.path);
        shell.env("CONFIG", envtest::workspace_root()?.join(CONFIG)).env("LC_ALL", "C").env("TZ", "UTC");
        Ok(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }
}

/// Waits for the end of a command, or kills its process group.
fn end(mut child: Child, kill: bool) -> Result<ExitStatus, Failed> {
    if kill {
        process::Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
    }
    Ok(child.wait()?)
}

/// Reads a stream line by line, on a thread.
fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    let stream = stream.map(BufReader::new);
    thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            if send.send(text).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns `count` lines, or fewer if they do not arrive in time.
fn take(lines: &Receiver<String>, count: usize) -> String {
    (0..count).map_while(|_| lines.recv_timeout(TIMEOUT).ok()).collect()
}

/// Returns all remaining lines, or an error if the stream does not end in time.
fn rest(lines: &Receiver<String>) -> Result<String, ()> {
    let mut rest = String::new();
    loop {
        match lines.recv_timeout(TIMEOUT) {
            Ok(line) => rest.push_str(&line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(rest),
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(()),
        }
    }
}
