//! The Rust side: projects of their own on this workspace, as `examples/own-api` is one, of as many kinds as wanted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{cargo, files, kinds, paths};

/// Which Kubernetes version the kinds are of is said there.
pub(crate) const CARGO_CONFIG: &str = include_str!("../../../.cargo/config.toml");
/// The same versions of everything.
pub(crate) const CARGO_LOCK: &str = include_str!("../../../Cargo.lock");

/// How it is built is said there.
const EXAMPLE: &str = include_str!("../../../examples/own-api/Cargo.toml");

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
//! Kinds to measure with.

use logger_core::meta::ApiGroup;

pub mod v1;

/// Every group and version of this crate.
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
//! All that generating needs.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(bench_types::groups())
}
";

/// The example's profiles.
fn profiles() -> &'static str {
    EXAMPLE.find("[profile").map_or("", |start| &EXAMPLE[start..])
}

/// A project: types, a client crate that is generated, an xtask.
pub(crate) struct Project {
    directory: PathBuf,
}

impl Project {
    /// Writes one of so many kinds, with nothing generated.
    pub(crate) fn write(directory: PathBuf, count: usize) -> Result<Project> {
        files::make_empty(&directory)?;
        let project = Project { directory };
        let workspace = WORKSPACE.replace("ROOT", &paths::workspace_root().display().to_string());
        for (path, text) in [
            (".cargo/config.toml", CARGO_CONFIG),
            ("Cargo.lock", CARGO_LOCK),
            ("Cargo.toml", &format!("{workspace}\n{}", profiles())),
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

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The module of its first kind.
    pub(crate) fn types(&self) -> PathBuf {
        self.directory.join("bench-types/src/v1/logger.rs")
    }

    /// The directories that hold nothing but what was generated.
    pub(crate) fn generated(&self) -> [PathBuf; 2] {
        ["bench-client/src", "config"].map(|path| self.directory.join(path))
    }

    /// Cargo in it, as in the example project.
    pub(crate) fn cargo(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        cargo_in(&self.directory, args)
    }

    /// Its generator, built last of all: projects share one target directory.
    pub(crate) fn generator(&self) -> Command {
        let mut command = Command::new(target_dir().join("debug/xtask"));
        command.arg("codegen").current_dir(&self.directory);
        command
    }
}

/// Cargo in a project, building into the directory that all projects share: so dependencies are built once.
pub(crate) fn cargo_in(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = cargo::command(directory, args);
    command.env("CARGO_TARGET_DIR", target_dir()).env_remove("CARGO_INCREMENTAL");
    command
}

/// That directory.
pub(crate) fn target_dir() -> PathBuf {
    paths::home().join("target")
}
