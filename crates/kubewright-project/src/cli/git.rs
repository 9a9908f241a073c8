//! Git as a program.

use std::{
    io::{self, Read},
    path::Path,
    process::{Command, Output, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use crate::scaffold::Reference;

/// The limit of a request to a repository.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Git cannot be run, or fails.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    /// Git cannot be run.
    #[error("cannot run git: {0}; install it")]
    Run(#[source] io::Error),
    /// Git failed.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// The subcommand.
        command: &'static str,
        /// What git printed.
        message: String,
    },
    /// A repository does not respond.
    #[error("no response within {} s; check the URL and the network", TIMEOUT.as_secs())]
    Timeout,
    /// No temporary repository can be created.
    #[error("cannot create a temporary directory: {0}")]
    Temporary(#[source] io::Error),
}

/// Returns whether a file has uncommitted changes.
pub(super) fn has_changes(root: &Path, path: &str) -> Result<bool, GitError> {
    let mut git = Command::new("git");
    let output = git.args(["status", "--porcelain", "--", path]).current_dir(root).output().map_err(GitError::Run)?;
    if output.status.success() { Ok(!output.stdout.is_empty()) } else { Err(failed("status", &output)) }
}

/// Returns the paths of the files of a commit of a repository; by default that of its default branch. Only their names
/// are requested.
pub(super) fn files(url: &str, reference: Option<&Reference>) -> Result<Vec<String>, GitError> {
    let directory = tempfile::tempdir().map_err(GitError::Temporary)?;
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(directory.path()).args(args).env("GIT_TERMINAL_PROMPT", "0");
        git
    };
    let output = git(&["init", "--quiet", "--bare"]).output().map_err(GitError::Run)?;
    if !output.status.success() {
        return Err(failed("init", &output));
    }
    let name = match reference {
        None => "HEAD".to_owned(),
        Some(Reference::Rev(rev)) => rev.clone(),
        Some(Reference::Tag(tag)) => format!("refs/tags/{tag}"),
        Some(Reference::Branch(branch)) => format!("refs/heads/{branch}"),
    };
    run_within(TIMEOUT, &mut git(&["fetch", "--quiet", "--depth=1", "--filter=blob:none", "--", url, &name]))?;
    let output = git(&["ls-tree", "-r", "--name-only", "FETCH_HEAD"]).output().map_err(GitError::Run)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err(failed("ls-tree", &output)),
    }
}

/// Runs `git fetch`, and ends it after a time.
fn run_within(limit: Duration, fetch: &mut Command) -> Result<(), GitError> {
    let fetch = fetch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = fetch.spawn().map_err(GitError::Run)?;
    let (sender, messages) = channel();
    let mut stderr = child.stderr.take();
    // A child of git can keep the pipe open after the end of git: nothing waits for this thread.
    thread::spawn(move || {
        let mut message = Vec::new();
        let _read = stderr.as_mut().map(|stderr| stderr.read_to_end(&mut message));
        sender.send(message)
    });
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(GitError::Run)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let stderr = messages.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
                return Err(failed("fetch", &Output { status, stdout: Vec::new(), stderr }));
            }
            None if start.elapsed() > limit => {
                child.kill().and_then(|()| child.wait()).map_err(GitError::Run)?;
                return Err(GitError::Timeout);
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn failed(command: &'static str, output: &Output) -> GitError {
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let message = if message.is_empty() { output.status.to_string() } else { message };
    GitError::Failed { command, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_outside_of_a_repository_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = has_changes(directory.path(), ".").unwrap_err().to_string();
        assert!(error.starts_with("`git status` failed: "), "{error}");
    }

    #[test]
    fn a_repository_that_does_not_respond_is_an_error() {
        let mut sleep = Command::new("sleep");
        let error = run_within(Duration::from_millis(50), sleep.arg("60")).unwrap_err();
        assert!(error.to_string().starts_with("no response within"), "{error}");
    }
}
