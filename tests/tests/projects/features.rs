//! Features agree across commands: none of them recompiles a dependency because another one enables more features of
//! it.
//!
//! Cargo unifies features over the packages that a command selects. So `cargo xtask codegen` and
//! `cargo build --workspace` share a compiled dependency only if both enable the same features of it. The manifests of
//! `kubewright-project`, `quickstart` and `tests` therefore repeat what other packages enable.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::Value;
use tests::{
    FEATURES,
    user_project::{UserProject, checkout},
};

/// The packages that a selection builds, each with its enabled features, such as `syn v3.0.9 derive,full`.
fn packages(selection: &[&str], edges: &str) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p} {f}", "--edges", edges])
        .args(selection)
        .current_dir(tests::workspace_root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    lines(&String::from_utf8_lossy(&tree.stdout))
}

fn lines(tree: &str) -> BTreeSet<String> {
    tree.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

/// Fails with the packages that `selection` compiles with other features than the complete workspace does, with and
/// without the features of the gate. The facade has those of its dependents, and no code. Those that the gate enables
/// are features of members, and one of `cc`: the build script of zstd compiles C files in parallel.
fn check_shared(selection: &[&str]) {
    let selected = packages(selection, "normal,build");
    assert!(selected.len() > 50, "{selected:#?}");
    for features in ["", FEATURES] {
        let workspace = packages(&["--workspace", "--features", features], "normal,build");
        let is_changed = |package: &str| package.contains("(/") || package.starts_with("cc v");
        let is_facade = |package: &str| package.starts_with("kubewright v");
        let is_compared = |package: &&String| !is_facade(package) && (features.is_empty() || !is_changed(package));
        let different: Vec<_> = selected.difference(&workspace).filter(is_compared).collect();
        assert!(
            different.is_empty(),
            "{selection:?} and `--workspace --features '{features}'` enable different features of: {different:#?}"
        );
    }
}

#[test]
fn codegen_shares_every_package_with_the_workspace() {
    check_shared(&["--package", "xtask"]);
}

#[test]
fn the_quickstart_shares_every_package_with_the_workspace() {
    check_shared(&["--package", "quickstart"]);
}

/// The facade has the features that a selection enables, and no code.
#[test]
fn the_xtask_of_a_project_shares_every_package_with_its_tests() {
    let project = UserProject::create("features", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    let parent = project.path.parent().unwrap().to_owned();
    let mut init = Command::new(tests::program("cargo-kubewright"));
    init.args(["kubewright", "init", "--domain", "example.com", "--name", "my-operator"]);
    let status = init.arg(&project.path).arg("--path").arg(checkout()).status().unwrap();
    assert!(status.success());
    project.lock();
    let tree = |selection: &str| {
        lines(&project.run(&format!("cargo tree --quiet --prefix none --format '{{p}} {{f}}' {selection}")))
    };
    let (xtask, tests) = (tree("--edges normal,build --package xtask"), tree("--edges normal,build,dev --workspace"));
    fs::remove_dir_all(parent).unwrap();
    assert!(xtask.len() > 50, "{xtask:#?}");
    let different: Vec<_> = xtask.difference(&tests).filter(|package| !package.starts_with("kubewright v")).collect();
    assert!(different.is_empty(), "`cargo xtask` and `cargo test` enable different features of: {different:#?}");
}

#[test]
fn the_gate_compiles_every_feature_of_the_published_packages() {
    let suite = include_str!("../../../xtask/src/suite.rs");
    assert!(suite.contains(&format!("\"{FEATURES}\"")), "the gate enables other features than {FEATURES}");
    let enabled = packages(&["--workspace", "--features", FEATURES], "normal,build,dev");
    let metadata = tests::cargo(&["metadata", "--offline", "--no-deps", "--format-version", "1"]).output().unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let published = metadata["packages"].as_array().unwrap().iter().filter(|package| package["publish"].is_null());
    let mut count = 0;
    for package in published {
        let name = package["name"].as_str().unwrap();
        let lines = enabled.iter().filter(|line| line.split(' ').next() == Some(name));
        let features: BTreeSet<&str> =
            lines.filter_map(|line| line.rsplit(' ').next()).flat_map(|list| list.split(',')).collect();
        // A build has exactly one version of the Kubernetes API.
        let is_api_version = |feature: &&String| feature.starts_with("v1_");
        for feature in package["features"].as_object().unwrap().keys().filter(|feature| !is_api_version(feature)) {
            count += 1;
            assert!(
                features.contains(feature.as_str()),
                "{name}/{feature} is not in {FEATURES}, and no test enables it"
            );
        }
    }
    assert!(count > 5, "{count} features");
}

#[test]
fn tests_share_the_packages_of_the_workspace() {
    let selection = ["--workspace", "--features", FEATURES];
    let (build, test) = (packages(&selection, "normal,build"), packages(&selection, "normal,build,dev"));
    let changed: Vec<_> = build.difference(&test).collect();
    assert!(changed.is_empty(), "dev-dependencies enable further features of: {changed:#?}");
}
