//! `crd import`: Rust types from existing definitions.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};

use super::{super::print::print, source};
use crate::{
    crates::Crates,
    import::{self, ImportedModule, KubernetesTypes},
    output::write_new,
};

/// Options of `crd import`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Import {
    /// Files with definitions; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Directory for the modules, one file for each version of a group. Existing files are not overwritten.
    #[arg(long, value_name = "DIR", conflicts_with = "stdout", required_unless_present = "stdout")]
    pub out: Option<PathBuf>,
    /// Print the modules without writing any file.
    #[arg(long)]
    pub stdout: bool,
    /// Generate types for all objects, even for those with the schema of a k8s-openapi type. This preserves all descriptions.
    #[arg(long)]
    pub own_types: bool,
}

pub(super) fn run(args: &Import) -> Result<ExitCode> {
    let mut all = source::Definitions::new();
    for file in &args.files {
        let found = source::read(file)?;
        if found.is_empty() {
            bail!("no CustomResourceDefinition in {}", file.display());
        }
        all.extend(found);
    }
    let all: Vec<_> = all.into_values().collect();
    let kubernetes_types = if args.own_types { KubernetesTypes::Generate } else { KubernetesTypes::Reuse };
    let crates = crates(args)?;
    let mut modules = import::import(&all, kubernetes_types)?;
    for module in &mut modules {
        module.source = crates.rename(std::mem::take(&mut module.source));
    }
    match &args.out {
        Some(directory) => {
            let files: Vec<_> =
                modules.iter().map(|of| (directory.join(format!("{}.rs", of.module)), of.source.as_str())).collect();
            write_new(&files)?;
            files.iter().for_each(|(path, _)| print(&format!("created {}", path.display())));
            print(&next_steps(&modules));
        }
        None => modules.iter().for_each(|module| print(module.source.trim_end())),
    }
    for note in modules.iter().flat_map(|module| &module.notes) {
        eprintln!("note: {note}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the dependency of the package that contains the directory: the facade, unless its manifest has another one.
fn crates(args: &Import) -> Result<Crates> {
    let directory = std::path::absolute(args.out.as_deref().unwrap_or(Path::new(".")))?;
    let manifest = directory.ancestors().map(|parent| parent.join("Cargo.toml")).find(|manifest| manifest.is_file());
    let found = manifest.map_or(Ok(None), |manifest| Crates::of(&manifest))?;
    Ok(found.unwrap_or_else(|| Crates::Facade("kubewright".to_owned())))
}

/// Returns the remaining manual steps.
fn next_steps(modules: &[ImportedModule]) -> String {
    let names = modules.iter().map(|of| format!("pub mod {};", of.module)).collect::<Vec<_>>().join(" ");
    let groups = modules.iter().map(|of| format!("{}::API_GROUP", of.module)).collect::<Vec<_>>().join(", ");
    format!("add `{names}` to the types crate and {groups} to its groups, then run `cargo xtask codegen`")
}
