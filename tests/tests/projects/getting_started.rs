//! Runs the page *Anatomy of a project* of the book: writes its files, runs its commands and compares their output.

use std::fs;

use tests::{page::Walkthrough, user_project::UserProject};

const PAGE: &str = include_str!("../../../docs/getting-started.md");

#[test]
fn every_step_works() {
    let project = UserProject::create("getting-started", "gadgets", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir(&project.path).unwrap();
    Walkthrough::new(&project).follow(PAGE);
    fs::remove_dir_all(project.path.parent().unwrap()).unwrap();
}
