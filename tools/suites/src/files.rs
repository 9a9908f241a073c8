//! Directories of sources, copied so that they can be changed.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use anyhow::{Context, Result};

/// Copies a directory in place of another one. All copied files can be written; those that name an interpreter in their
/// first line can be executed: module caches have no permissions of files.
pub(crate) fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    recreate_directory(to)?;
    copy_entries(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Creates an empty directory, and removes an existing one.
pub(crate) fn recreate_directory(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(directory),
    }
    .with_context(|| format!("cannot empty {}", directory.display()))
}

fn copy_entries(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_entries(&entry.path(), &target)?;
            continue;
        }
        let content = fs::read(entry.path())?;
        fs::write(&target, &content)?;
        if content.starts_with(b"#!") {
            fs::set_permissions(&target, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_can_be_changed_and_its_scripts_can_be_executed() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::create_dir_all(to.join("old")).unwrap();
        for (file, text) in [("a/b.go", "package a"), ("run.sh", "#!/bin/sh\n")] {
            fs::write(from.join(file), text).unwrap();
            fs::set_permissions(from.join(file), fs::Permissions::from_mode(0o444)).unwrap();
        }
        copy_directory(&from, &to).unwrap();
        let mode = |file: &str| fs::metadata(to.join(file)).unwrap().permissions().mode();
        assert_eq!(mode("a/b.go") & 0o200, 0o200);
        assert_eq!(mode("run.sh") & 0o700, 0o700);
        assert_eq!(fs::read_to_string(to.join("a/b.go")).unwrap(), "package a");
        assert!(!to.join("old").exists());
    }
}
