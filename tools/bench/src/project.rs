//! Generated Rust projects with any number of kinds, which depend on this workspace as `examples/own-api` does.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{
    cargo, files,
    kinds::{self, Group},
    paths,
};

/// Specifies the Kubernetes version of the kinds.
pub(crate) const CARGO_CONFIG: &str = include_str!("../../../.cargo/config.toml");
/// Pins the dependencies to the versions of the workspace.
pub(crate) const CARGO_LOCK: &str = include_str!("../../../Cargo.lock");

/// Has the build profile of the projects in its only TOML block with `[profile`.
const COMMANDS: &str = include_str!("../../../docs/reference/commands.md");

const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = ["TYPES", "bench-client", "xtask"]

[workspace.dependencies]
kubewright-codegen = { path = "ROOT/kubewright-codegen" }
kubewright-core = { path = "ROOT/kubewright-core" }
kubewright-runtime = { path = "ROOT/kubewright-runtime" }
k8s-openapi = "0.29"
schemars = "1"
serde = { version = "1", features = ["derive"] }
"#;
const TYPES: &str = r#"[package]
name = "NAME"
edition = "2024"

[dependencies]
k8s-openapi.workspace = true
kubewright-core.workspace = true
schemars.workspace = true
serde.workspace = true
"#;
const TYPES_LIB: &str = "\
//! The kinds of an API group.

use kubewright_core::meta::ApiGroup;

pub mod v1;

/// Returns every group and version of this crate.
pub const fn groups() -> &'static [ApiGroup] {
    &[v1::API_GROUP]
}
";
const CLIENT: &str = r#"[package]
name = "bench-client"
edition = "2024"

[lib]
path = "src/lib.rs"

[dependencies]
kubewright-core.workspace = true
kubewright-runtime.workspace = true
"#;
const XTASK: &str = r#"[package]
name = "xtask"
edition = "2024"

[dependencies]
kubewright-codegen.workspace = true
"#;
const XTASK_MAIN: &str = "\
//! Generates the client and the CRDs.

fn main() -> std::process::ExitCode {
    kubewright_codegen::cli(&[GROUPS].concat())
}
";

/// Returns the build profile that the documentation recommends for many kinds.
fn profile() -> &'static str {
    let profile = COMMANDS.split("```toml\n").find(|block| block.starts_with("[profile"));
    profile.and_then(|block| block.split("```").next()).unwrap_or_default()
}

/// A project with types, a generated client crate and an xtask.
pub(crate) struct Project {
    directory: PathBuf,
}

impl Project {
    /// Writes a project with a types crate for each group and no generated code.
    pub(crate) fn write(directory: PathBuf, groups: &[Group]) -> Result<Project> {
        files::recreate_directory(&directory)?;
        let project = Project { directory };
        let crates: Vec<_> = groups.iter().map(Group::types_crate).collect();
        let each = |text: &str| crates.iter().map(|name| text.replace("NAME", name)).collect::<String>();
        let dependencies = each("NAME = { path = \"../NAME\" }\n");
        let modules: Vec<_> = crates.iter().map(|name| format!("{}::groups()", name.replace('-', "_"))).collect();
        let workspace = WORKSPACE
            .replace("ROOT", &paths::workspace_root().display().to_string())
            .replace("TYPES", &crates.join("\", \""));
        for (path, text) in [
            (".cargo/config.toml", CARGO_CONFIG),
            ("Cargo.lock", CARGO_LOCK),
            ("Cargo.toml", &format!("{workspace}\n{}", profile())),
            ("bench-client/Cargo.toml", &format!("{CLIENT}{dependencies}")),
            ("xtask/Cargo.toml", &format!("{XTASK}{dependencies}")),
            ("xtask/src/main.rs", &XTASK_MAIN.replace("GROUPS", &modules.join(", "))),
        ] {
            files::write(&project.directory.join(path), text)?;
        }
        for (group, name) in groups.iter().zip(&crates) {
            project.write_types(group, name)?;
        }
        Ok(project)
    }

    fn write_types(&self, group: &Group, name: &str) -> Result<()> {
        let directory = self.directory.join(name);
        files::write(&directory.join("Cargo.toml"), &TYPES.replace("NAME", name))?;
        files::write(&directory.join("src/lib.rs"), TYPES_LIB)?;
        files::write(&directory.join("src/v1.rs"), &kinds::rust_version(group))?;
        for (file, text) in kinds::rust_files(group) {
            files::write(&directory.join(format!("src/v1/{file}.rs")), &text)?;
        }
        Ok(())
    }

    /// Returns the directory of the project.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the module of the first kind.
    pub(crate) fn types(&self) -> PathBuf {
        self.directory.join("bench-types/src/v1/logger.rs")
    }

    /// Returns the directories with generated files only.
    pub(crate) fn generated(&self) -> [PathBuf; 2] {
        ["bench-client/src", "config"].map(|path| self.directory.join(path))
    }

    /// Returns a cargo command in the project.
    pub(crate) fn cargo(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        cargo_in(&self.directory, args)
    }

    /// Returns a command of the generator. Projects share a target directory, so it must be the last one that was
    /// built.
    pub(crate) fn generator(&self) -> Command {
        let mut command = Command::new(target_dir().join("debug/xtask"));
        command.arg("codegen").current_dir(&self.directory);
        command
    }
}

/// Returns a cargo command in a project, with its profile and the shared target directory in which dependencies are
/// built once.
pub(crate) fn cargo_in(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = cargo::command(directory, args);
    command.env("CARGO_TARGET_DIR", target_dir());
    for setting in ["CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG"] {
        command.env_remove(setting);
    }
    command
}

/// Returns the target directory that all projects share.
pub(crate) fn target_dir() -> PathBuf {
    paths::home().join("target")
}
