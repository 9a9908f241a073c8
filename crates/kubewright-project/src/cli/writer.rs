//! Writes the steps of a plan: all of them, or none.
//!
//! New contents are written beside their files, and replaced and removed files are moved aside, before anything is
//! lost. After an error, every file and directory is as before.
//!
//! There is no journal: a process that is killed between two steps does not roll back the first one. The commands
//! ignore Ctrl-C, SIGTERM and SIGHUP meanwhile, so that only SIGKILL and failures of the machine remain. After SIGKILL,
//! no file of the project is partial: each has its old or its new contents, or is missing and beside itself as
//! `.<name>.old`. Nothing is flushed to the disk: after a power failure, the contents depend on the file system.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::scaffold::{Plan, Step};

/// A file that cannot be written or removed.
#[derive(Debug, thiserror::Error)]
#[error("nothing was changed: cannot write {}: {source}", .path.display())]
pub struct WriteError {
    /// Its path.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// Executes a plan in a directory, which is created if it does not exist.
///
/// # Errors
/// Fails if a file cannot be written or removed, or if a file that the plan creates exists. Nothing has changed then.
pub fn write(root: &Path, plan: &Plan) -> Result<(), WriteError> {
    let mut transaction = Transaction::default();
    let on_error = |step: &Step| {
        let path = root.join(step.path());
        move |source| WriteError { path, source }
    };
    for step in &plan.steps {
        transaction.stage(root, step).map_err(on_error(step))?;
    }
    for step in &plan.steps {
        transaction.apply(root, step).map_err(on_error(step))?;
    }
    transaction.commit(root);
    Ok(())
}

/// Creates or replaces one file. Its directory is created if it does not exist.
///
/// # Errors
/// Fails if the file cannot be written. It is as before then.
pub fn write_file(path: &Path, contents: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let temporary = beside(path, "new");
    let written = write_temporary(&temporary, contents).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// Changes that are rolled back when this is dropped, unless they are committed.
#[derive(Default)]
struct Transaction {
    /// Directories that were created, the outer ones first.
    directories: Vec<PathBuf>,
    /// New contents beside their files.
    staged: Vec<PathBuf>,
    /// Files that were moved aside: where they are, and where they were.
    moved: Vec<(PathBuf, PathBuf)>,
    /// Files with new contents.
    written: Vec<PathBuf>,
}

impl Transaction {
    /// Writes the new contents of a file beside it.
    fn stage(&mut self, root: &Path, step: &Step) -> io::Result<()> {
        let target = root.join(step.path());
        let contents = match step {
            Step::Create { contents, .. } => {
                if fs::symlink_metadata(&target).is_ok() {
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists"));
                }
                contents
            }
            Step::Replace { contents, .. } | Step::Edit { contents, .. } => contents,
            Step::Remove { .. } => return Ok(()),
        };
        self.create_directories(target.parent().unwrap_or(root))?;
        let temporary = beside(&target, "new");
        self.staged.push(temporary.clone());
        write_temporary(&temporary, contents)
    }

    fn create_directories(&mut self, directory: &Path) -> io::Result<()> {
        let missing: Vec<_> = directory
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
            .map(Path::to_owned)
            .collect();
        for path in missing.into_iter().rev() {
            fs::create_dir(&path)?;
            self.directories.push(path);
        }
        Ok(())
    }

    /// Replaces or removes a file.
    fn apply(&mut self, root: &Path, step: &Step) -> io::Result<()> {
        let target = root.join(step.path());
        if !matches!(step, Step::Create { .. }) {
            let aside = beside(&target, "old");
            fs::rename(&target, &aside)?;
            self.moved.push((aside, target.clone()));
        }
        if !matches!(step, Step::Remove { .. }) {
            fs::rename(beside(&target, "new"), &target)?;
            self.written.push(target);
        }
        Ok(())
    }

    /// Removes the replaced files, and the directories that contain nothing else.
    fn commit(mut self, root: &Path) {
        let moved = std::mem::take(&mut self.moved);
        self.written.clear();
        self.staged.clear();
        self.directories.clear();
        for (aside, target) in moved {
            // What cannot be removed is a hidden file.
            drop(fs::remove_file(aside));
            let directories = target.ancestors().skip(1).take_while(|path| *path != root);
            // Only empty directories can be removed in this way.
            let _removed = directories.map(fs::remove_dir).take_while(Result::is_ok).count();
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Errors of the rollback are ignored: the original error is reported.
        for path in self.written.iter().chain(&self.staged) {
            drop(fs::remove_file(path));
        }
        for (aside, target) in self.moved.iter().rev() {
            drop(fs::rename(aside, target));
        }
        for directory in self.directories.iter().rev() {
            drop(fs::remove_dir(directory));
        }
    }
}

/// Writes a temporary file. A leftover of a process that was killed, or a symbolic link, is replaced rather than
/// written through.
fn write_temporary(path: &Path, contents: &str) -> io::Result<()> {
    drop(fs::remove_file(path));
    fs::File::create_new(path)?.write_all(contents.as_bytes())
}

/// Returns a hidden path in the directory of a file. Another directory may be on another file system, where a rename
/// fails.
fn beside(target: &Path, suffix: &str) -> PathBuf {
    let name = target.file_name().unwrap_or(OsStr::new("file")).to_string_lossy();
    target.with_file_name(format!(".{name}.{suffix}"))
}
