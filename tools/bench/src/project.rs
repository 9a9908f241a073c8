//! Generated Rust projects with any number of kinds, which depend on this workspace as `examples/own-api` does.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{cargo, files, kinds, paths};

/// Specifies the Kubernetes version of the kinds.
pub(crate) const CARGO_CONFIG: &str = include_str!("../../../.cargo/config.toml");
/// Pins the dependencies to the versions of the workspace.
pub(crate) const CARGO_LOCK: &str = include_str!("../../../Cargo.lock");

/// Has the build profile of the projects in its only TOML block with `[profile`.
const COMMANDS: &str = include_str!("../../../docs/reference/commands.md");

const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = ["bench-types", "bench-client", "xtask"]

[workspace.dependencies]
bench-types = { path = "bench-types" }
logger-codegen = { path = "ROOT/logger-codegen" }
logger-core = { path = "ROOT/logger-core" }
logger-runtime = { path = "ROOT/logger-runtime" }
k8s-openapi = "0.29"
schemars = "1"
serde = { version = "1", features = ["derive"] }
"#;
const TYPES: &str = r#"[package]
name = "bench-types"
edition = "2024"

[dependencies]
k8s-openapi.workspace = true
logger-core.workspace = true
schemars.workspace = true
serde.workspace = true
"#;
const TYPES_LIB: &str = "\
//! The kinds of the benchmark.

use logger_core::meta::ApiGroup;

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
bench-types.workspace = true
logger-core.workspace = true
logger-runtime.workspace = true
"#;
const XTASK: &str = r#"[package]
name = "xtask"
edition = "2024"

[dependencies]
bench-types.workspace = true
logger-codegen.workspace = true
"#;
const XTASK_MAIN: &str = "\
//! Generates the client and the CRDs.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(bench_types::groups())
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
    /// Writes a project with this number of kinds and no generated code.
    pub(crate) fn write(directory: PathBuf, count: usize) -> Result<Project> {
        files::recreate_directory(&directory)?;
        let project = Project { directory };
        let workspace = WORKSPACE.replace("ROOT", &paths::workspace_root().display().to_string());
        for (path, text) in [
            (".cargo/config.toml", CARGO_CONFIG),
            ("Cargo.lock", CARGO_LOCK),
            ("Cargo.toml", &format!("{workspace}\n{}", profile())),
            ("bench-types/Cargo.toml", TYPES),
            ("bench-types/src/lib.rs", TYPES_LIB),
            ("bench-types/src/v1.rs", &kinds::rust_version(count)),
            ("bench-client/Cargo.toml", CLIENT),
            ("xtask/Cargo.toml", XTASK),
            ("xtask/src/main.rs", XTASK_MAIN),
        ] {
            files::write(&project.directory.join(path), text)?;
        }
        for (name, text) in kinds::rust_files(count) {
            files::write(&project.directory.join(format!("bench-types/src/v1/{name}.rs")), &text)?;
        }
        Ok(project)
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

/// Returns a cargo command in a project, with the shared target directory in which dependencies are built once.
pub(crate) fn cargo_in(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = cargo::command(directory, args);
    command.env("CARGO_TARGET_DIR", target_dir()).env_remove("CARGO_INCREMENTAL");
    command
}

/// Returns the target directory that all projects share.
pub(crate) fn target_dir() -> PathBuf {
    paths::home().join("target")
}
