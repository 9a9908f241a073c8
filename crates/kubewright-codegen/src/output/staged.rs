//! Staged changes of files: all are applied, or none.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// Staged changes that are not committed yet. Dropping it rolls them back.
#[derive(Default)]
pub(super) struct Staged {
    /// New contents, and the files they replace.
    written: Vec<(PathBuf, PathBuf)>,
    /// Where stray files were moved to, and where they were.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Staged {
    /// Stages new contents for a file.
    pub(super) fn write(&mut self, target: &Path, contents: &str) -> Result<()> {
        let shown = target.display();
        if target.is_dir() {
            bail!("cannot write {shown}: it is a directory");
        }
        let temporary = temporary_path(target, "new")?;
        if let Some(directory) = target.parent() {
            fs::create_dir_all(directory).with_context(|| format!("cannot create the directory of {shown}"))?;
        }
        // A leftover of an interrupted run, or a symbolic link, is replaced rather than written through.
        drop(fs::remove_file(&temporary));
        let file = fs::File::create_new(&temporary);
        self.written.push((temporary, target.to_owned()));
        file.and_then(|mut file| file.write_all(contents.as_bytes()))
            .with_context(|| format!("cannot write {shown}: is its directory writable?"))
    }

    /// Stages the removal of a file.
    pub(super) fn remove(&mut self, stray: &Path) -> Result<()> {
        let moved = temporary_path(stray, "old")?;
        fs::rename(stray, &moved).with_context(|| format!("cannot remove {}", stray.display()))?;
        self.moved.push((moved, stray.to_owned()));
        Ok(())
    }

    /// Applies all changes.
    pub(super) fn commit(mut self) -> Result<()> {
        while let Some((temporary, target)) = self.written.pop() {
            if let Err(error) = fs::rename(&temporary, &target) {
                self.written.push((temporary, target.clone()));
                return Err(error).with_context(|| format!("cannot write {}", target.display()));
            }
        }
        for (moved, stray) in std::mem::take(&mut self.moved) {
            fs::remove_file(&moved).with_context(|| format!("cannot remove {}", stray.display()))?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Errors of the rollback are ignored: the original error is reported.
        for (temporary, _) in &self.written {
            drop(fs::remove_file(temporary));
        }
        for (moved, stray) in &self.moved {
            drop(fs::rename(moved, stray));
        }
    }
}

/// Returns a hidden path in the directory of a file. Another directory may be on another file system, where a rename
/// fails.
fn temporary_path(target: &Path, suffix: &str) -> Result<PathBuf> {
    let name = target.file_name().and_then(OsStr::to_str).context("a generated file has a name")?;
    Ok(target.with_file_name(format!(".{name}.{suffix}")))
}
