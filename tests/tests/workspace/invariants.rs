//! The invariants of ARCHITECTURE.md: forbidden dependencies, forbidden names, and files that are not compiled.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    tests::workspace_root().canonicalize().unwrap()
}

/// Reports whether `package` depends on `dependency`, from `cargo tree`. Dev-dependencies are ignored.
fn depends_on(package: &str, dependency: &str) -> bool {
    dependencies(package).iter().any(|name| name == dependency)
}

/// Returns the packages that `package` builds, by `cargo tree`, without itself and dev-dependencies.
fn dependencies(package: &str) -> Vec<String> {
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
    let names = String::from_utf8_lossy(&tree.stdout);
    names.lines().skip(1).filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn crates_have_no_forbidden_dependencies() {
    for (package, forbidden) in [
        ("xtask", &["logger-client", "kube-client", "tokio", "hyper"][..]),
        ("logger-types", &["kube-client", "tokio", "hyper"]),
        ("kubewright-core", &["kube-client", "tokio", "hyper"]),
        ("kubewright-codegen", &["kube-client", "tokio", "logger-types", "logger-client"]),
        ("kubewright-runtime", &["logger-types", "kubewright-codegen", "logger-client"]),
        ("kubewright-http", &["kube-client", "k8s-openapi", "kubewright-core", "kubewright-names"]),
        ("kubewright-manager", &["logger-types", "kubewright-codegen", "logger-client"]),
        ("kubewright-apiserver", &["logger-types", "logger-client", "kubewright-codegen", "kubewright-runtime"]),
        ("kubewright-manager", &["logger-types", "logger-client", "kubewright-codegen", "kubewright-apiserver"]),
        ("kubewright-simulator", &["logger-types", "logger-client", "kubewright-codegen", "kubewright-apiserver"]),
        ("kubewright-envtest", &["kube-client", "tokio", "kubewright-core"]),
        (
            "kubewright-project",
            &["kube-client", "tokio", "rcgen", "logger-types", "logger-client", "kubewright-runtime"],
        ),
        ("logger-client", &["kubewright-codegen", "kubewright-apiserver"]),
        (
            "logger-agent",
            &["kube-client", "kube-core", "k8s-openapi", "kubewright-manager", "kubewright-runtime", "ring", "rustls"],
        ),
        ("logger-operator", &["kubewright-codegen", "kubewright-apiserver"]),
    ] {
        for dependency in forbidden {
            assert!(!depends_on(package, dependency), "{package} depends on {dependency}");
        }
    }
    let dependencies = dependencies("kubewright-names");
    assert!(dependencies.is_empty(), "kubewright-names depends on {dependencies:?}");
    assert!(depends_on("logger-client", "tokio"), "depends_on finds existing dependencies");
}

/// Returns all files below a directory with this extension, except in cargo's target directories.
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

const CRATES: [&str; 16] = [
    "crates/kubewright-names",
    "crates/kubewright-core",
    "crates/kubewright-crd",
    "logger-derive",
    "crates/kubewright-codegen",
    "crates/kubewright-runtime",
    "crates/kubewright-http",
    "crates/kubewright-manager",
    "crates/kubewright-apiserver",
    "crates/kubewright-simulator",
    "crates/kubewright-envtest",
    "crates/kubewright-project",
    "xtask",
    "tools/envtest",
    "tools/overlay",
    "tools/suites",
];
/// The crates that may name kinds of the reference API.
const OTHERS: [&str; 8] = [
    "logger-types",
    "logger-client",
    "logger-agent",
    "logger-operator",
    "tests",
    "examples/demo",
    "examples/quickstart",
    "tools/bench",
];

#[test]
fn generic_crates_name_no_kind_of_the_reference_api() {
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
fn there_is_one_http_server() {
    for name in CRATES.into_iter().chain(OTHERS).filter(|name| *name != "crates/kubewright-http") {
        for file in files(&root().join(name).join("src"), "rs") {
            let text = fs::read_to_string(&file).unwrap();
            let is_server = text.contains("hyper::server") || text.contains("server::conn");
            assert!(!is_server, "{} serves HTTP without `kubewright-http`", file.display());
        }
    }
}

/// Tasks of these crates belong to a `JoinSet` or a `TaskTracker`, which is awaited.
#[test]
fn no_task_is_detached() {
    for name in [
        "crates/kubewright-runtime",
        "crates/kubewright-http",
        "crates/kubewright-manager",
        "logger-agent",
        "crates/kubewright-simulator",
        "logger-operator",
    ] {
        for file in files(&root().join(name).join("src"), "rs") {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let detached: Vec<_> = code.filter(|line| line.contains("tokio::spawn(")).collect();
            assert!(detached.is_empty(), "{}: {detached:?}", file.display());
        }
    }
}

#[test]
fn every_module_begins_with_a_doc_line() {
    for name in CRATES.into_iter().chain(OTHERS) {
        for file in files(&root().join(name).join("src"), "rs") {
            let text = fs::read_to_string(&file).unwrap();
            let first = text.lines().find(|line| !line.starts_with("// @generated")).unwrap_or_default();
            assert!(first.starts_with("//! "), "{} begins with {first:?}", file.display());
        }
    }
}

#[test]
fn every_file_is_declared_as_a_module() {
    for name in CRATES.into_iter().chain(OTHERS) {
        let src = root().join(name).join("src");
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        for file in files(&src, "rs") {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let is_target = manifest.contains(&format!("path = \"src/{stem}.rs\""));
            let is_program = file.parent() == Some(&src.join("bin")) || file.parent() == Some(&src) && is_target;
            let is_root = is_program || file.parent() == Some(&src) && ["lib", "main"].contains(&stem);
            let parent = file.parent().unwrap();
            let parents = [parent.join("lib.rs"), parent.join("main.rs"), parent.with_extension("rs")];
            let declares = |parent: &PathBuf| {
                fs::read_to_string(parent)
                    .is_ok_and(|text| text.lines().any(|line| line.trim().ends_with(&format!("mod {stem};"))))
            };
            assert!(is_root || parents.iter().any(declares), "no module declares {}", file.display());
        }
    }
}

/// Returns the modules of a target: its root, and below `directory` what it and they declare. Modules with a `path` are
/// left out.
fn modules(file: PathBuf, directory: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let names = text.lines().filter_map(|line| line.trim().strip_suffix(';')?.rsplit_once("mod "));
    let children = names.flat_map(|(_, name)| {
        let below = directory.join(name);
        let files = [directory.join(format!("{name}.rs")), below.join("mod.rs")];
        files.into_iter().find(|file| file.exists()).map(|file| modules(file, &below)).unwrap_or_default()
    });
    let children: Vec<_> = children.collect();
    [vec![file], children].concat()
}

/// A test in a target with `test = false` would not run.
#[test]
fn targets_without_unit_tests_declare_none() {
    let output = tests::cargo(&["metadata", "--offline", "--no-deps", "--format-version", "1"]).output().unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let targets = metadata["packages"].as_array().unwrap().iter().flat_map(|package| package["targets"].as_array());
    let is_without_tests = |target: &&serde_json::Value| {
        target["test"] == false && ["bin", "lib"].iter().any(|kind| target["kind"][0] == *kind)
    };
    let mut count = 0;
    for target in targets.flatten().filter(is_without_tests) {
        count += 1;
        let file = PathBuf::from(target["src_path"].as_str().unwrap());
        let directory = file.parent().unwrap().to_owned();
        for file in modules(file, &directory) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains("cfg(test)") && !text.contains("test]\n"), "{} has tests", file.display());
        }
    }
    assert!(count > 20, "{count} targets");
}

#[test]
fn every_crate_inherits_the_workspace_lints_or_forbids_unsafe_code() {
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
