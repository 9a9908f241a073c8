//! Runs the page *Migrate a kubebuilder project* of the book on a small project of kubebuilder: the CRD, the namespace
//! and the Lease do not change.

use std::{fs, path::Path, process::Command};

use tests::{
    page::Walkthrough,
    user_project::{UserProject, checkout},
};

const PAGE: &str = include_str!("../../../docs/coming-from/kubebuilder-migration.md");

#[test]
fn every_step_works() {
    let project = UserProject::create("migration", "widget-operator", env!("CARGO_TARGET_TMPDIR"));
    let parent = project.path.parent().unwrap().to_owned();
    copy(&checkout().join("tests/corpus/kubebuilder"), &parent.join("widget-operator-go"));
    fs::create_dir(&project.path).unwrap();
    let programs = [("cargo-kubewright", &*tests::program("cargo-kubewright"))];
    let project = project.with_programs(&programs).with_author("Migration");
    let page = PAGE.replace("--git REPOSITORY", "--path ../toolchain");
    assert_ne!(page, PAGE, "the page names the repository");

    Walkthrough::new(&project).follow(&page);

    project.run("cargo xtask codegen --check");
    project.run("cargo xtask manifests --check");
    let changes = project.run("cargo xtask crd diff ../widget-operator-go/config/crd/bases");
    assert!(changes.contains("\n8 safe in 1 common definition"), "{changes}");
    contains(&project.path.join("config/default/kustomization.yaml"), "namespace: widget-operator-system");
    contains(&project.path.join("config/rbac/leader_election_role.yaml"), "4a1b.example.com");
    fs::remove_dir_all(parent).unwrap();
}

fn contains(file: &Path, text: &str) {
    let content = fs::read_to_string(file).unwrap();
    assert!(content.contains(text), "{} does not contain {text}:\n{content}", file.display());
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-R").args([from, to]).status().unwrap();
    assert!(status.success(), "{} {}", from.display(), to.display());
}
