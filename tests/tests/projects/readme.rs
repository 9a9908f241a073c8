//! The code of the README compiles with the dependencies of its install block, as the project of a user.

use std::fs;

use tests::user_project::{UserProject, checkout};

const README: &str = include_str!("../../../README.md");

/// Returns the first block of a language after a heading.
fn block(heading: &str, language: &str) -> &'static str {
    let (_, section) = README.split_once(&format!("\n## {heading}\n")).expect("the heading exists");
    let (_, block) = section.split_once(&format!("```{language}\n")).expect("the block exists");
    block.split("```").next().unwrap_or_default()
}

#[test]
fn the_code_compiles_with_the_install_block() {
    let project = UserProject::create("readme", "greeting", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(project.path.join("src")).unwrap();
    let source = format!("path = {:?}", checkout().join("crates/kubewright"));
    let dependencies = block("Install", "toml").replace("git = \"REPOSITORY\"", &source);
    assert!(!dependencies.contains("REPOSITORY"), "{dependencies}");
    let package = "[package]\nname = \"greeting\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n";
    fs::write(project.path.join("Cargo.toml"), format!("{package}{dependencies}")).unwrap();
    let code = block("The code you write", "rust,no_run");
    fs::write(project.path.join("src/main.rs"), code).unwrap();
    project.lock();
    project.run("cargo check --quiet");
    fs::remove_dir_all(project.path.parent().unwrap()).unwrap();
}
