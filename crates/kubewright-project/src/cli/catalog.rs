//! `cargo xtask catalog`: adds a bundle to the file-based catalog of the project.

use std::{fs, io, path::PathBuf, process::ExitCode};

use kubewright_codegen::{File, write_files};

use super::{bundle, failed};
use crate::{
    olm::{self, Bundle, CatalogOptions},
    workspace::Workspace,
};

/// The directory of catalogs, relative to the root of the project.
const DIRECTORY: &str = "catalog";
/// The end of the first line of the catalog. Bundles are added below it.
const MARK: &str = "Bundles are added by `cargo xtask catalog`.";

/// Options of `catalog`.
#[derive(Clone, Debug, clap::Args)]
pub struct CatalogArgs {
    /// The directory of the bundle [default: `bundle` of the project].
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// A channel; can be repeated [default: those of the bundle].
    #[arg(long, value_name = "CHANNEL")]
    pub channel: Vec<String>,
    /// The image of the bundle, with its tag or digest.
    #[arg(long)]
    pub image: String,
}

impl CatalogArgs {
    /// Writes `catalog/<operator>/catalog.yaml` with the bundle added.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        match self.file(workspace) {
            Ok((directory, file)) => write_files(workspace.root(), &directory, MARK, &[file], "catalog", false),
            Err(error) => failed(&*error),
        }
    }

    fn file(&self, workspace: &Workspace<'_>) -> Result<(String, File), Box<dyn std::error::Error>> {
        let bundle = Bundle::read(&bundle::directory(self.directory.as_deref(), workspace))?;
        let directory = format!("{DIRECTORY}/{}", workspace.settings()?.name);
        let path = format!("{directory}/catalog.yaml");
        let existing = match fs::read_to_string(workspace.root().join(&path)) {
            Ok(text) => olm::parse_catalog(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(format!("cannot read {path}: {error}").into()),
        };
        let options = CatalogOptions { channels: self.channel.clone(), image: self.image.clone() };
        let catalog = olm::append(existing, &bundle, &options)?;
        Ok((directory, File { path, contents: format!("# {MARK}\n{catalog}") }))
    }
}
