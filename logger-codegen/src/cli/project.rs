//! The project of a types crate: its directories and its layout.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use logger_core::meta::ApiGroup;

use super::{
    manifest::{self, Manifest},
    settings::Settings,
};
use crate::layout::Layout;

/// The directories of a project. Defaults are those of `codegen`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ProjectDirs {
    /// Root of the workspace [default: the nearest parent directory whose Cargo.toml has a `[workspace]`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Source directory of the client crate, relative to the root [default: `my-client/src` for the crate `my_types`].
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<String>,
    /// Directory of the CRD files, relative to the root [default: `config/crd/bases`].
    #[arg(long, value_name = "DIR")]
    pub crd_dir: Option<String>,
}

/// A project and the layout of its generated files.
pub(super) struct Project {
    pub(super) root: PathBuf,
    pub(super) layout: Layout,
    /// Whether the client's package exists.
    has_client: bool,
    /// The source directory of the types crate, if it was found.
    pub(super) types_dir: Option<PathBuf>,
}

impl Project {
    /// Finds the project of a types crate from the current directory.
    pub(super) fn find(groups: &[ApiGroup], dirs: &ProjectDirs) -> Result<Self> {
        Self::with_settings(groups, dirs, &Settings::default())
    }

    /// Finds the project, with settings that take precedence over those of its manifests.
    pub(super) fn with_settings(groups: &[ApiGroup], dirs: &ProjectDirs, settings: &Settings) -> Result<Self> {
        let Some(types_crate) = types_crate(groups) else {
            bail!("the API has no kinds: list the kinds in a `group_version!` and pass its `API_GROUP`");
        };
        let mut layout = dirs.layout(types_crate)?;
        let root = match &dirs.root {
            Some(root) => root.clone(),
            None => manifest::workspace_root(&std::env::current_dir().context("cannot read the current directory")?)?,
        };
        let client = Manifest::of_client(&root, &layout)?;
        let types = Manifest::of_types(&root, &layout)?;
        layout.features = client.as_ref().map(Manifest::features).unwrap_or_default();
        let of_manifests = manifest::settings(client.as_ref(), types.as_ref())?;
        settings.clone().or(of_manifests).apply_to(&mut layout, &root)?;
        let types_dir = types.as_ref().map(Manifest::source_dir);
        Ok(Project { root, layout, has_client: client.is_some(), types_dir })
    }

    /// Fails unless the client's package exists: cargo would not build sources outside a package.
    pub(super) fn require_client(&self) -> Result<()> {
        if !self.has_client {
            let package = self.root.join(self.layout.client_dir.trim_end_matches("/src"));
            bail!(
                "there is no package in {}: create an empty library crate, or set its source directory with `--client-dir`",
                package.display()
            );
        }
        Ok(())
    }
}

impl ProjectDirs {
    fn layout(&self, types_crate: &str) -> Result<Layout> {
        let mut layout = Layout::for_types_crate(types_crate);
        if let Some(directory) = &self.client_dir {
            let directory = directory.trim_end_matches('/');
            let package = directory.strip_suffix("/src").unwrap_or(directory).rsplit('/').next().unwrap_or_default();
            if package.is_empty() || package == "src" {
                bail!(
                    "`--client-dir {directory}` is not in a package; set the source directory of one, such as `my-client/src`"
                );
            }
            layout.client_crate = package.replace('-', "_");
            layout.client_dir = directory.to_owned();
        }
        if let Some(directory) = &self.crd_dir {
            layout.crd_dir = directory.trim_end_matches('/').to_owned();
        }
        Ok(layout)
    }
}

/// Returns the crate of the first kind; `None` without kinds.
fn types_crate(groups: &[ApiGroup]) -> Option<&'static str> {
    let group = groups.iter().find(|group| group.kinds().next().is_some())?;
    group.module.split("::").next()
}
