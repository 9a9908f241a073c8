//! `crd import`: Rust types of definitions from elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::definitions;
use crate::cli::say;
use crate::file::write_new;
use crate::import::{self, Imported, Structs};

/// Which definitions are imported, and where to.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Import {
    /// Files with definitions; `-` is the standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the modules go, one file for each version of a group. None that is there is overwritten.
    #[arg(long, value_name = "DIR", conflicts_with = "stdout", required_unless_present = "stdout")]
    pub out: Option<PathBuf>,
    /// Print the modules instead.
    #[arg(long)]
    pub stdout: bool,
    /// Make types of the module of all objects, of those too that have the schema of a type of k8s-openapi's: descriptions
    /// are kept to the letter then.
    #[arg(long)]
    pub own_types: bool,
}

pub(super) fn run(args: &Import) -> Result<ExitCode> {
    let mut all = definitions::Definitions::new();
    for file in &args.files {
        let found = definitions::in_file(file)?;
        if found.is_empty() {
            bail!("{}: no CustomResourceDefinition in it", file.display());
        }
        all.extend(found);
    }
    let all: Vec<_> = all.into_values().collect();
    let structs = if args.own_types { Structs::Own } else { Structs::OfKubernetes };
    let modules = import::import(&all, structs).context("nothing was written, because not all of it can be kept")?;
    match &args.out {
        Some(directory) => {
            let files: Vec<_> =
                modules.iter().map(|of| (directory.join(format!("{}.rs", of.module)), of.source.as_str())).collect();
            write_new(&files)?;
            files.iter().for_each(|(path, _)| say(&format!("created {}", path.display())));
            say(&next_steps(&modules));
        }
        None => modules.iter().for_each(|module| say(module.source.trim_end())),
    }
    for note in modules.iter().flat_map(|module| &module.notes) {
        eprintln!("note: {note}");
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left to do by hand.
fn next_steps(modules: &[Imported]) -> String {
    let names = modules.iter().map(|of| format!("pub mod {};", of.module)).collect::<Vec<_>>().join(" ");
    let groups = modules.iter().map(|of| format!("{}::API_GROUP", of.module)).collect::<Vec<_>>().join(", ");
    format!("add to the types crate: `{names}`, and to its groups: `{groups}`; then run `cargo xtask codegen`")
}
