//! A project of `cargo logger init` from the empty folder to checked manifests: it compiles without warnings, its tests pass,
//! and what it generates is up to date.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

fn checkout() -> PathBuf {
    tests::workspace_root().canonicalize().unwrap()
}

/// A path outside the checkout, whose cargo configuration must not apply. The name is the same in each run, so that the
/// build artifacts of the last one are replaced.
fn parent() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    checkout().hash(&mut hasher);
    let parent = std::env::temp_dir().join(format!("scaffold-{:x}", hasher.finish()));
    drop(fs::remove_dir_all(&parent));
    fs::create_dir_all(&parent).unwrap();
    parent
}

/// Runs `cargo logger init` with the crates of this checkout.
fn init(project: &Path) {
    let (project, checkout) = (project.to_str().unwrap(), checkout());
    let program = ["run", "--offline", "--quiet", "--package", "logger-project", "--bin", "cargo-logger", "--"];
    let options = ["logger", "init", "--domain", "example.com", "--name", "my-operator", project, "--source"];
    let mut cargo = tests::cargo(&program);
    let output = cargo.args(options).arg(&checkout).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // With the locked versions of the workspace, cargo works offline and shares its compiled dependencies.
    fs::copy(checkout.join("Cargo.lock"), Path::new(project).join("Cargo.lock")).unwrap();
}

/// Runs a command as a user of a shell in the project does, and returns its output.
fn run(script: &str, project: &Path) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &format!("exec 2>&1\n{script}")]).current_dir(project);
    for name in std::env::vars_os().map(|(name, _)| name) {
        // Cargo sets these for the package of this test. Settings of profiles also apply to the project: it shares the
        // compiled dependencies of the workspace.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !text.starts_with("CARGO_PROFILE_") && name != "CARGO_HOME" {
            shell.env_remove(name);
        }
    }
    let debug = std::env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or_else(|_| "line-tables-only".to_owned());
    let output = shell
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", debug)
        .env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{script}\n{text}");
    text
}

#[test]
fn a_new_project_works_at_once() {
    let parent = parent();
    let project = parent.join("my-operator");
    init(&project);
    // Without kinds.
    run("cargo fmt --all --check", &project);
    run("cargo check --workspace --all-targets", &project);

    run("cargo xtask create api --group apps --version v1 --kind Widget", &project);
    run("cargo xtask create api --group '' --version v1beta1 --kind Person --plural people --cluster-scoped", &project);
    let again = run("cargo xtask create api --group apps --version v1 --kind Widget", &project);
    assert!(again.contains("nothing to do"), "{again}");
    run("cargo xtask create version --group apps --version v2 --kind Widget", &project);
    run("cargo xtask rename api --group apps --kind Widget --to LogFile", &project);
    run("cargo xtask codegen", &project);
    run("cargo xtask manifests", &project);

    run("cargo xtask codegen --check", &project);
    run("cargo xtask manifests --check", &project);
    run("cargo fmt --all --check", &project);
    run("cargo clippy --workspace --all-targets -- -D warnings", &project);
    run("RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps", &project);
    let tested = run("cargo test --workspace", &project);
    for test in ["an_object_becomes_ready_with_one_write", "an_object_becomes_ready_on_a_cluster"] {
        assert_eq!(tested.matches(&format!("test {test} ... ok")).count(), 2, "{tested}");
    }

    // Without its last kind, the project still compiles.
    run("cargo xtask delete api --group '' --version v1beta1 --kind Person", &project);
    run("cargo xtask delete api --group apps --version v2 --kind LogFile", &project);
    run("cargo xtask delete api --group apps --version v1 --kind LogFile", &project);
    run("cargo check --workspace --all-targets", &project);
    fs::remove_dir_all(&parent).unwrap();
}
