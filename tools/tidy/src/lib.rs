//! Sources of this repository, as the checks in `tests` read them.

pub mod comments;
pub mod dockerfile;
pub mod modules;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the root of the workspace that the running test belongs to.
///
/// # Panics
/// If cargo did not start the test.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    Path::new(&package).join("../..").canonicalize().expect("the package is two levels below the root")
}

/// Returns the files of the repository with an extension, relative to the root and sorted. Files that git ignores are
/// left out.
///
/// # Panics
/// If git cannot list them.
#[must_use]
pub fn files(extension: &str) -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", &format!("*.{extension}")])
        .current_dir(workspace_root())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let mut files: Vec<String> = String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
    files.retain(|file| workspace_root().join(file).exists());
    files.sort();
    files.dedup();
    assert!(!files.is_empty(), "there are files that end in .{extension}");
    files
}

/// Reads a file of the repository.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn read(file: &str) -> String {
    fs::read_to_string(workspace_root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Fails with one line for each violation.
///
/// # Panics
/// If there is a violation.
pub fn assert_none(what: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{} {what}:\n{}", violations.len(), violations.join("\n"));
}
