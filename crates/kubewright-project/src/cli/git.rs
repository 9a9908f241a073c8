//! Git as a program.

use std::{
    io,
    path::Path,
    process::{Command, Output},
};

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
}

/// Returns whether a file has uncommitted changes.
pub(super) fn has_changes(root: &Path, path: &str) -> Result<bool, GitError> {
    let mut git = Command::new("git");
    let output = git.args(["status", "--porcelain", "--", path]).current_dir(root).output().map_err(GitError::Run)?;
    if output.status.success() { Ok(!output.stdout.is_empty()) } else { Err(failed("status", &output)) }
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
}
