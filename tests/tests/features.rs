//! Features agree across commands: none of them recompiles a dependency because another one enables more features of it.
//!
//! Cargo unifies features over the packages that a command selects. So `cargo xtask codegen` and `cargo build --workspace`
//! share a compiled dependency only if both enable the same features of it. The manifests of `xtask`, `quickstart` and
//! `tests` therefore repeat what other members enable.

use std::{collections::BTreeSet, process::Command};

/// The packages that a selection builds, each with its enabled features, such as `syn v3.0.9 derive,full`.
fn packages(selection: &[&str], edges: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p} {f}", "--edges", edges])
        .args(selection)
        .current_dir(tests::workspace_root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8_lossy(&tree.stdout);
    text.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

/// Fails with the packages that `selection` compiles with other features than the complete workspace does.
fn check_shared(selection: &[&str]) {
    let workspace = packages(&["--workspace"], "normal,build");
    let selected = packages(selection, "normal,build");
    assert!(selected.len() > 50, "{selected:#?}");
    let different: Vec<_> = selected.difference(&workspace).collect();
    assert!(different.is_empty(), "{selection:?} and `--workspace` enable different features of: {different:#?}");
}

#[test]
fn codegen_shares_every_package_with_the_workspace() {
    check_shared(&["--package", "xtask"]);
}

#[test]
fn the_quickstart_shares_every_package_with_the_workspace() {
    check_shared(&["--package", "quickstart"]);
}

#[test]
fn tests_share_the_packages_of_the_workspace() {
    let build = packages(&["--workspace"], "normal,build");
    let test = packages(&["--workspace"], "normal,build,dev");
    let changed: Vec<_> = build.difference(&test).collect();
    assert!(changed.is_empty(), "dev-dependencies enable further features of: {changed:#?}");
}
