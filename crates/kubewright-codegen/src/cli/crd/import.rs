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
    output::{Style, manifest_of, rustfmt, write_new},
};

/// Options of `crd import`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Import {
    /// Files with definitions; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Directory for the modules, one file for each version of a group. Existing files are not overwritten. A project
    /// with a file PROJECT needs no directory: the modules become part of its types.
    #[arg(long, value_name = "DIR", conflicts_with = "stdout")]
    pub out: Option<PathBuf>,
    /// Print the modules without writing any file.
    #[arg(long)]
    pub stdout: bool,
    /// Generate types for all objects, even for those with the schema of a k8s-openapi type. This preserves all
    /// descriptions.
    #[arg(long)]
    pub own_types: bool,
}

impl Import {
    /// Reads the definitions, and returns their modules, in the style of rustfmt in the project that they are written
    /// to.
    ///
    /// # Errors
    /// Fails if a file cannot be read or contains no definition, if a definition cannot be imported, and if rustfmt is
    /// not installed.
    pub fn modules(&self) -> Result<Vec<ImportedModule>> {
        let mut all = source::Definitions::new();
        for file in &self.files {
            let found = source::read(file)?;
            if found.is_empty() {
                bail!("no CustomResourceDefinition in {}", file.display());
            }
            all.extend(found);
        }
        let all: Vec<_> = all.into_values().collect();
        let kubernetes_types = if self.own_types { KubernetesTypes::Generate } else { KubernetesTypes::Reuse };
        let directory = std::path::absolute(self.out.as_deref().unwrap_or(Path::new(".")))?;
        let crates = crates(&directory)?;
        let mut modules = import::import(&all, kubernetes_types)?;
        for module in &mut modules {
            let source = crates.rename(std::mem::take(&mut module.source));
            module.source = rustfmt(Style::Project(&directory), &format!("{}.rs", module.module), &source)?;
        }
        Ok(modules)
    }
}

pub(super) fn run(args: &Import) -> Result<ExitCode> {
    if args.out.is_none() && !args.stdout {
        bail!("select `--out DIR` or `--stdout`");
    }
    let modules = args.modules()?;
    match &args.out {
        Some(directory) => {
            let files: Vec<_> = modules
                .iter()
                .map(|module| (directory.join(format!("{}.rs", module.module)), module.source.as_str()))
                .collect();
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
fn crates(directory: &Path) -> Result<Crates> {
    let found = manifest_of(directory).map_or(Ok(None), |manifest| Crates::from_manifest(&manifest))?;
    Ok(found.unwrap_or_else(|| Crates::Facade("kubewright".to_owned())))
}

/// Returns the remaining manual steps.
fn next_steps(modules: &[ImportedModule]) -> String {
    let names = modules.iter().map(|module| format!("pub mod {};", module.module)).collect::<Vec<_>>().join(" ");
    let groups = modules.iter().map(|module| format!("{}::API_GROUP", module.module)).collect::<Vec<_>>().join(", ");
    format!("add `{names}` to the types crate and {groups} to its groups, then run `cargo xtask codegen`")
}
