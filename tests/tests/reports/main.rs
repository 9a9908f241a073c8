//! Inputs from public bug reports of other generators, each with its right result. Types and definitions have the number of
//! their report; those with a `c` are differences to the API server.

extern crate self as reports;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

#[allow(dead_code, unused_imports, reason = "the client is compiled, and only some of it is called")]
#[rustfmt::skip]
mod client;
mod clients;
mod definition;
mod definitions;
#[allow(dead_code, reason = "only the definitions of the types are used")]
#[rustfmt::skip]
mod imported;
mod invalid;
mod schemas;
mod serde_keys;
#[allow(dead_code, reason = "only the definitions of the types are used")]
mod types;
mod variations;

/// Returns the directory of this file.
fn directory() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let directory = Path::new(file!()).parent().unwrap();
    // The path is relative to the workspace, and tests run in the package.
    [directory, directory.strip_prefix("tests").unwrap_or(directory)]
        .iter()
        .map(|directory| package.join(directory))
        .find(|directory| directory.is_dir())
        .unwrap()
}

/// Asserts that a file has this content, or writes it if `UPDATE_REPORTS` is set.
fn update(path: &str, content: &str) {
    let path = directory().join(path);
    if env::var_os("UPDATE_REPORTS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == content, "{}: run the test with UPDATE_REPORTS=1, then again", path.display());
}
