//! A project of `cargo kubewright init` from the empty folder to checked manifests: it compiles without warnings, its tests pass,
//! and what it generates is up to date.

use std::fs;

use tests::user_project::{UserProject, checkout};

/// Runs `cargo kubewright init` with the crates of this checkout.
fn init(project: &UserProject) {
    let program = ["run", "--offline", "--quiet", "--package", "kubewright-project", "--bin", "cargo-kubewright", "--"];
    let options = ["kubewright", "init", "--domain", "example.com", "--name", "my-operator"];
    let mut cargo = tests::cargo(&program);
    let output = cargo.args(options).arg(&project.path).arg("--source").arg(checkout()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.lock();
}

#[test]
fn a_new_project_works_at_once() {
    let project = UserProject::create("scaffold", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    init(&project);
    // Without kinds.
    project.run("cargo fmt --all --check");
    project.run("cargo check --workspace --all-targets");

    project.run("cargo xtask create api --group apps --version v1 --kind Widget");
    project.run("cargo xtask create api --group '' --version v1beta1 --kind Person --plural people --cluster-scoped");
    let again = project.run("cargo xtask create api --group apps --version v1 --kind Widget");
    assert!(again.contains("nothing to do"), "{again}");
    project.run("cargo xtask create version --group apps --version v2 --kind Widget");
    project.run("cargo xtask rename api --group apps --kind Widget --to LogFile");
    project.run("cargo xtask codegen");
    project.run("cargo xtask manifests");

    project.run("cargo xtask codegen --check");
    project.run("cargo xtask manifests --check");
    project.run("cargo fmt --all --check");
    project.run("cargo clippy --workspace --all-targets -- -D warnings");
    project.run("RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps");
    let tested = project.run("cargo test --workspace");
    for test in ["an_object_becomes_ready_with_one_write", "an_object_becomes_ready_on_a_cluster"] {
        assert_eq!(tested.matches(&format!("test {test} ... ok")).count(), 2, "{tested}");
    }

    // Without its last kind, the project still compiles.
    project.run("cargo xtask delete api --group '' --version v1beta1 --kind Person");
    project.run("cargo xtask delete api --group apps --version v2 --kind LogFile");
    project.run("cargo xtask delete api --group apps --version v1 --kind LogFile");
    project.run("cargo check --workspace --all-targets");
    fs::remove_dir_all(project.path.parent().unwrap()).unwrap();
}
