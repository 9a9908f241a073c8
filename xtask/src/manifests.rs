//! `cargo xtask manifests`: the configuration of the Logger operator.

use std::{
    fs,
    path::Path,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use logger_codegen::{File, write_files};
use logger_core::{
    description::{KindDescription, OperatorDescription},
    meta::{ApiGroup, Scope},
};
use logger_project::{MARK, Project, Settings, render};

use crate::cargo;

/// The program that describes itself.
const PROGRAM: &str = "logger-operator";
/// The settings of the project.
const SETTINGS: &str = "config/project.toml";

/// Options of `manifests`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compare the files with the tree, and list those that are out of date.
    #[arg(long)]
    check: bool,
}

/// Renders the files, or checks them.
pub(crate) fn run(options: &Options) -> ExitCode {
    let root = cargo::workspace_root();
    match files(&root) {
        Ok(files) => write_files(&root, "config", MARK, &files, "manifests", options.check),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn files(root: &Path) -> Result<Vec<File>> {
    let settings = fs::read_to_string(root.join(SETTINGS)).with_context(|| format!("cannot read {SETTINGS}"))?;
    let settings = Settings::parse(&settings).context(SETTINGS)?;
    let description = describe(&settings.args)?;
    let kinds = kinds(logger_types::groups());
    Ok(render(&Project { settings, description, kinds })?)
}

/// Runs the program with the flags that it has in its container.
fn describe(args: &[String]) -> Result<OperatorDescription> {
    let mut program = cargo::command(["run", "--quiet", "--package", PROGRAM, "--", "manifests"]);
    let output = program.args(args).stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("`{PROGRAM} manifests` failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("`{PROGRAM} manifests` prints no description"))
}

fn kinds(groups: &[ApiGroup]) -> Vec<KindDescription> {
    let kinds = groups.iter().flat_map(|group| group.kinds().map(move |kind| (group, kind)));
    let describe = |(group, kind): (&ApiGroup, &logger_core::meta::ApiKind)| KindDescription {
        group: group.group.to_owned(),
        version: group.version.to_owned(),
        kind: kind.kind.to_owned(),
        plural: kind.plural.to_owned(),
        namespaced: matches!(kind.scope, Scope::Namespaced),
    };
    kinds.map(describe).collect()
}
