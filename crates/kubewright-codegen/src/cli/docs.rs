//! `docs`: writes the API reference, or checks it for drift.

use std::process::ExitCode;

use anyhow::Result;
use kubewright_core::meta::ApiGroup;

use super::{
    project::{Project, ProjectDirs},
    write::write_or_check_plan,
};
use crate::{generate::reference, layout::Layout, output::Plan};

/// Options of `docs`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Docs {
    /// Compare the tree with the generated pages without writing: list missing, changed and stray pages; exit with 1 if
    /// there are any.
    #[arg(long)]
    pub check: bool,
    /// The directories of the project.
    #[command(flatten)]
    pub dirs: ProjectDirs,
}

pub(super) fn run(groups: &[ApiGroup], args: &Docs) -> Result<ExitCode> {
    let Project { root, layout, .. } = Project::find(groups, &args.dirs)?;
    let files = reference(groups, &layout)?;
    let directory = layout.docs_dir.clone();
    let layout = Layout { client_dir: directory.clone(), crd_dir: directory, ..layout };
    write_or_check_plan(&Plan::new(&root, &files, &layout)?, files.len(), args.check, "docs")
}
