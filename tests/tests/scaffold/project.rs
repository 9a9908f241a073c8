//! A project of `cargo kubewright init` from the empty folder to checked manifests: it compiles without warnings, its
//! tests pass, and what it generates is up to date.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use envtest::Assets;
use tempfile::TempDir;
use tests::user_project::{UserProject, checkout};

/// Where a project gets the crates of kubewright from.
pub(super) enum Source<'a> {
    /// From a checkout.
    Path(&'a Path),
    /// From a repository.
    Git(&'a str),
}

/// Runs `cargo kubewright init`.
pub(super) fn init(project: &UserProject, source: Source<'_>) {
    let mut init = Command::new(tests::program("cargo-kubewright"));
    init.args(["kubewright", "init", "--domain", "example.com", "--name", "my-operator"]).arg(&project.path);
    match source {
        Source::Path(path) => init.arg("--path").arg(path),
        Source::Git(url) => init.args(["--git", url]),
    };
    let output = init.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.lock();
}

/// Returns a definition of another project.
fn foreign_definition() -> PathBuf {
    checkout().join("tests/corpus/import/gadgets.yaml")
}

/// A project with three kinds, and a copy of it that no trial changes. On drop, both are removed.
pub(super) struct Scaffold {
    project: UserProject,
    files: TempDir,
}

impl Scaffold {
    /// Creates the project, its kinds and all files that are rendered from them.
    pub(super) fn create() -> Self {
        let project = UserProject::create("scaffold", "my-operator", env!("CARGO_TARGET_TMPDIR"));
        init(&project, Source::Path(&checkout()));
        project.run("git init --quiet && git add --all");
        project.run("git -c user.name=A -c user.email=a@example.com commit --quiet --message 'Create the project'");
        // Without kinds.
        project.run("cargo fmt --all --check");
        project.run("cargo check --workspace --all-targets");
        create_kinds(&project);
        for command in ["codegen", "manifests", "chart", "bundle"] {
            project.run(&format!("cargo xtask {command}"));
        }
        let files = tempfile::tempdir().unwrap();
        copy(&project.path, &files.path().join("project"));
        fs::copy(project.build("my-operator"), files.path().join("program")).unwrap();
        Scaffold { project, files }
    }

    /// Returns the root of the copy.
    pub(super) fn copy(&self) -> PathBuf {
        self.files.path().join("project")
    }

    /// Returns the path of the operator.
    pub(super) fn program(&self) -> PathBuf {
        self.files.path().join("program")
    }

    /// Checks the project, on a control plane too if there is one, and deletes its kinds.
    pub(super) fn check(&self, assets: Option<&Assets>) {
        let project = &self.project;
        for command in ["codegen", "manifests", "chart", "bundle"] {
            project.run(&format!("cargo xtask {command} --check"));
        }
        let printed = project.run("cargo run --quiet --package my-operator -- crds print");
        assert_eq!(printed.matches("\nkind: CustomResourceDefinition").count(), 3, "{printed}");
        // The client has the foreign kind, and no file of the cluster has its definition.
        assert!(project.path.join("my-operator-client/src/typed/corpus_v1.rs").exists());
        project.run("! grep --recursive corpus.example.com config charts bundle");
        project.run("(cargo xtask scorecard || true) | grep '^pass  basic-check-spec'");
        project.run("cargo fmt --all --check");
        project.run("cargo clippy --workspace --all-targets -- -D warnings");
        project.run("RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps");
        let tested = project.run("cargo test --workspace");
        for test in ["an_object_becomes_ready_with_one_write", "an_object_becomes_ready_on_a_cluster"] {
            assert_eq!(tested.matches(&format!("test {test} ... ok")).count(), 3, "{tested}");
        }
        check_envtest(project, assets);
        delete_kinds(project);
        project.run("cargo check --workspace --all-targets");
    }
}

impl Drop for Scaffold {
    fn drop(&mut self) {
        drop(self.project.path.parent().map(fs::remove_dir_all));
    }
}

/// Runs the tests of the project that need a control plane.
fn check_envtest(project: &UserProject, assets: Option<&Assets>) {
    let refused = project.shell("unset KUBEBUILDER_ASSETS; cargo xtask envtest").output().unwrap();
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.starts_with("error: KUBEBUILDER_ASSETS is not set to the directory of etcd"), "{message}");
    assert_eq!(refused.status.code(), Some(2));
    if let Some(assets) = assets {
        let tested = project.run(&format!("KUBEBUILDER_ASSETS='{}' cargo xtask envtest", assets.dir().display()));
        assert_eq!(tested.matches("test an_object_becomes_ready_on_a_control_plane ... ok").count(), 3, "{tested}");
    }
}

/// Creates three kinds, of which one is in two versions and has all webhooks, and imports those of another project. No
/// command needs a commit after the one before it.
fn create_kinds(project: &UserProject) {
    project.run("cargo xtask create api --group apps --version v1 --kind Widget");
    project.run("cargo xtask create api --group '' --version v1beta1 --kind Person --plural people --cluster-scoped");
    let again = project.run("cargo xtask create api --group apps --version v1 --kind Widget");
    assert!(again.contains("nothing to do"), "{again}");
    project.run("cargo xtask create version --group apps --version v2 --kind Widget");
    let lost = project.shell("cargo xtask rename api --group apps --kind Widget --to LogFile").output().unwrap();
    assert!(String::from_utf8_lossy(&lost.stderr).contains("has uncommitted changes and would be overwritten"));
    project.run("cargo xtask rename api --group apps --kind Widget --to LogFile --allow-dirty");
    project.run("cargo xtask create webhook --group apps --kind LogFile --version v1 --defaulting --validation");
    let noted = project.run("cargo xtask create webhook --group apps --kind LogFile --conversion --hub v2");
    assert!(noted.contains("`#[convert(hub = crate::apps_v2::LogFile)]`") && !noted.contains("note:"), "{noted}");
    let definition = foreign_definition();
    let imported = project.run(&format!("cargo xtask crd import {}", definition.display()));
    assert!(imported.contains("create  my-operator-types/src/corpus_v1.rs"), "{imported}");
    let again = project.run(&format!("cargo xtask crd import {}", definition.display()));
    assert!(again.contains("nothing to do"), "{again}");
    project.run("cargo xtask create api --group tools --version v1 --kind Gear");
}

/// Deletes all kinds. Without the last one, the project still compiles.
fn delete_kinds(project: &UserProject) {
    project.run("cargo xtask delete api --group '' --version v1beta1 --kind Person --allow-dirty");
    project.run("cargo xtask delete api --group tools --version v1 --kind Gear --allow-dirty");
    let noted = project.run("cargo xtask delete api --group apps --version v2 --kind LogFile --allow-dirty");
    assert!(noted.contains("remove `#[convert(..)]`"), "{noted}");
    project.run("sed -i '/#.convert(/d' my-operator-types/src/apps_v1/log_file.rs");
    project.run("cargo xtask delete api --group apps --version v1 --kind LogFile --allow-dirty");
    project.run("cargo xtask delete import corpus_v1 --allow-dirty");
    project.run("cargo xtask delete import corpus_v1beta1 --allow-dirty");
}

/// The parts of a checkout of kubewright that a project depends on.
const TOOLCHAIN: [&str; 5] = ["Cargo.toml", "LICENSE", "README.md", "crates", "logger-derive"];

/// Copies the parts of this checkout that a project depends on to a new directory.
pub(super) fn copy_toolchain(directory: &Path) {
    fs::create_dir(directory).unwrap();
    for path in TOOLCHAIN {
        copy(&checkout().join(path), &directory.join(path));
    }
}

/// Copies a file or a directory.
pub(super) fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-R").args([from, to]).status().unwrap();
    assert!(status.success(), "{} {}", from.display(), to.display());
}

pub(super) fn a_project_moves_with_its_toolchain() {
    let project = UserProject::create("moved", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    let parent = project.path.parent().unwrap().to_owned();
    let toolchain = parent.join("toolchain");
    copy_toolchain(&toolchain);
    init(&project, Source::Path(&toolchain));
    let moved = UserProject::create("moved-elsewhere", "my-operator", env!("CARGO_TARGET_TMPDIR"));
    let elsewhere = moved.path.parent().unwrap().to_owned();
    fs::remove_dir(&elsewhere).unwrap();
    fs::rename(&parent, &elsewhere).unwrap();
    let metadata = moved.run("cargo metadata --offline --format-version 1");
    let core = elsewhere.canonicalize().unwrap().join("toolchain/crates/kubewright-core/Cargo.toml");
    assert!(metadata.contains(&core.display().to_string()), "{metadata}");

    // Without the toolchain, the error names the missing manifest.
    fs::rename(elsewhere.join("toolchain"), elsewhere.join("other")).unwrap();
    let error = moved.shell("cargo xtask codegen").output().unwrap();
    let message = String::from_utf8_lossy(&error.stderr);
    assert!(message.contains("toolchain/crates/kubewright/Cargo.toml"), "{message}");
    fs::remove_dir_all(elsewhere).unwrap();
}
