//! Git in a project: uncommitted changes, and merges of files.

use std::{
    fs, io,
    path::Path,
    process::{Command, Output},
};

use crate::scaffold::{Layout, Merged, Versions};

/// The label of the file of the user in conflicts.
const YOURS: &str = "yours";
/// The largest exit code of `git merge-file` that is a number of conflicts: it stands for more of them, too.
const MAX_CONFLICTS: usize = 127;

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
    /// The files of a merge cannot be written.
    #[error("cannot write temporary files: {0}")]
    Temporary(#[source] io::Error),
}

/// Returns whether files that match a pathspec have uncommitted changes. With `ignored`, files that git ignores have them.
pub(super) fn has_changes(root: &Path, pathspec: &[&str], ignored: bool) -> Result<bool, GitError> {
    let mut git = Command::new("git");
    git.args(["status", "--porcelain", if ignored { "--ignored" } else { "--ignored=no" }, "--"]);
    let output = git.args(pathspec).current_dir(root).output().map_err(GitError::Run)?;
    if output.status.success() { Ok(!output.stdout.is_empty()) } else { Err(failed("status", &output)) }
}

/// Merges the versions of a file. Conflicts contain all three versions.
pub(super) fn merge(versions: &Versions<'_>) -> Result<Merged, GitError> {
    let directory = tempfile::tempdir().map_err(GitError::Temporary)?;
    for (name, contents) in [("yours", versions.yours), ("former", versions.former), ("current", versions.current)] {
        fs::write(directory.path().join(name), contents).map_err(GitError::Temporary)?;
    }
    let (former, current) = (format!("layout {}", versions.layout), format!("layout {}", Layout::CURRENT));
    let mut git = Command::new("git");
    git.args(["merge-file", "-p", "--diff3", "-L", YOURS, "-L", &former, "-L", &current, "yours", "former", "current"]);
    let output = git.current_dir(directory.path()).output().map_err(GitError::Run)?;
    let contents = String::from_utf8_lossy(&output.stdout).into_owned();
    let code = output.status.code().and_then(|code| usize::try_from(code).ok());
    match code.filter(|conflicts| *conflicts <= MAX_CONFLICTS) {
        Some(0) => Ok(Merged { contents, conflicts: 0 }),
        // Other errors have these exit codes as well, without a merged file.
        Some(conflicts) if contents.contains(&format!("<<<<<<< {YOURS}\n")) => Ok(Merged { contents, conflicts }),
        _ => Err(failed("merge-file", &output)),
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

    fn merged(yours: &str, former: &str, current: &str) -> Merged {
        merge(&Versions { path: "a", yours, layout: Layout::FIRST, former, current }).unwrap()
    }

    #[test]
    fn changes_of_different_lines_are_merged() {
        let result = merged("a\nb\nc\nmine\n", "a\nb\nc\n", "new\na\nb\nc\n");
        assert_eq!(result, Merged { contents: "new\na\nb\nc\nmine\n".to_owned(), conflicts: 0 });
    }

    #[test]
    fn conflicts_contain_all_versions() {
        let Merged { contents, conflicts } = merged("mine\n", "old\n", "new\n");
        let markers =
            format!("<<<<<<< yours\nmine\n||||||| layout v1\nold\n=======\nnew\n>>>>>>> layout {}\n", Layout::CURRENT);
        assert_eq!((contents, conflicts), (markers, 1));
        assert_eq!(merged("mine\n", "", "new\n").conflicts, 1);
    }

    #[test]
    fn many_conflicts_are_no_error() {
        let file =
            |line: &str| (0..200).map(|index| format!("{line}\n{index}\n{index}\n{index}\n")).collect::<String>();
        let conflicts = merged(&file("mine"), &file("old"), &file("new")).conflicts;
        assert_eq!(conflicts, MAX_CONFLICTS);
    }

    #[test]
    fn files_that_git_cannot_merge_are_errors() {
        let versions = Versions { path: "a", yours: "\0", layout: Layout::FIRST, former: "", current: "new\n" };
        let error = merge(&versions).unwrap_err().to_string();
        assert!(error.starts_with("`git merge-file` failed: "), "{error}");
    }

    #[test]
    fn a_directory_outside_of_a_repository_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = has_changes(directory.path(), &["."], false).unwrap_err().to_string();
        assert!(error.starts_with("`git status` failed: "), "{error}");
    }
}
