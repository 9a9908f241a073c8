//! What ARCHITECTURE.md says is never so: dependencies that must not be, names that must not occur, files nobody builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Whether `package` builds `dependency`, by `cargo tree`. Dev-dependencies do not count.
fn depends_on(package: &str, dependency: &str) -> bool {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--package",
            package,
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    String::from_utf8_lossy(&tree.stdout).lines().any(|line| line.split(' ').next() == Some(dependency))
}

#[test]
fn crates_do_not_depend_on_what_they_must_not() {
    for (package, must_not) in [
        ("xtask", &["logger-client", "kube-client", "tokio", "hyper"][..]),
        ("logger-types", &["kube-client", "tokio", "hyper"]),
        ("logger-core", &["kube-client", "tokio", "hyper"]),
        ("logger-codegen", &["kube-client", "tokio", "logger-types", "logger-client"]),
        ("logger-runtime", &["logger-types", "logger-codegen", "logger-client"]),
        ("logger-apiserver", &["logger-types", "logger-client", "logger-codegen", "logger-runtime"]),
        ("logger-client", &["logger-codegen", "logger-apiserver"]),
    ] {
        for dependency in must_not {
            assert!(!depends_on(package, dependency), "{package} depends on {dependency}");
        }
    }
    assert!(depends_on("logger-client", "tokio"), "the question is asked rightly");
}

/// All files below a directory with this ending; what cargo builds is not ours.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("target") {
            continue;
        } else if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

const CRATES: [&str; 9] = [
    "logger-core",
    "logger-crd",
    "logger-derive",
    "logger-codegen",
    "logger-runtime",
    "logger-apiserver",
    "xtask",
    "tools/envtest",
    "tools/overlay",
];
/// These may name kinds of ours.
const OTHERS: [&str; 5] = ["logger-types", "logger-client", "tests", "examples/quickstart", "tools/bench"];

#[test]
fn generic_crates_name_no_kind_of_ours() {
    for name in CRATES {
        for file in files(&root().join(name).join("src"), "rs") {
            let text = fs::read_to_string(&file).unwrap();
            for word in ["Logger", "loggers"] {
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let named: Vec<_> = code.filter(|line| line.contains(word) && !line.contains("assert")).collect();
                let is_test = text.contains("#[cfg(test)]") && named.iter().all(|line| line.contains('"'));
                assert!(named.is_empty() || is_test, "{}: {named:?}", file.display());
            }
        }
    }
}

#[test]
fn every_module_begins_with_a_line_that_says_what_it_is() {
    for name in CRATES.into_iter().chain(OTHERS) {
        for file in files(&root().join(name).join("src"), "rs") {
            let text = fs::read_to_string(&file).unwrap();
            let first = text.lines().find(|line| !line.starts_with("// @generated")).unwrap_or_default();
            assert!(first.starts_with("//! "), "{} begins with {first:?}", file.display());
        }
    }
}

#[test]
fn every_file_is_named_by_a_module() {
    for name in CRATES.into_iter().chain(OTHERS) {
        let src = root().join(name).join("src");
        for file in files(&src, "rs") {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let is_root = file.parent() == Some(&src) && ["lib", "main"].contains(&stem);
            let parent = file.parent().unwrap();
            let parents = [parent.join("lib.rs"), parent.join("main.rs"), parent.with_extension("rs")];
            let declares = |parent: &PathBuf| {
                fs::read_to_string(parent)
                    .is_ok_and(|text| text.lines().any(|line| line.trim().ends_with(&format!("mod {stem};"))))
            };
            assert!(is_root || parents.iter().any(declares), "no module names {}", file.display());
        }
    }
}

#[test]
fn every_crate_takes_the_workspaces_lints_or_says_its_own() {
    for manifest in files(&root(), "toml").into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        let text = fs::read_to_string(&manifest).unwrap();
        if text.contains("[package]") {
            assert!(
                text.contains("[lints]\nworkspace = true") || text.contains("[lints.rust]\nunsafe_code = \"forbid\""),
                "{}",
                manifest.display()
            );
        }
    }
}
