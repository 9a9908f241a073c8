//! The project of a types crate: its directories and its layout.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kubewright_core::meta::ApiGroup;

use super::{
    manifest::{self, Manifest},
    settings::Settings,
};
use crate::{crates::Crates, layout::Layout};

/// The directories of a project. Defaults are those of `codegen`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ProjectDirs {
    /// Root of the workspace [default: the nearest parent directory whose Cargo.toml has a `[workspace]`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Source directory of the client crate, relative to the root [default: `my-client/src` for the crate `my_types`].
    /// A directory below `src` of the package of the types is that of a module.
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
        let root = match &dirs.root {
            Some(root) => root.clone(),
            None => manifest::workspace_root(&std::env::current_dir().context("cannot read the current directory")?)?,
        };
        let mut layout = with_client_module(dirs.layout(types_crate)?, &root, dirs, settings)?;
        let client = Manifest::find_client(&root, &layout)?;
        let types = match layout.has_client_module() {
            true => None,
            false => Manifest::find_types(&root, &layout)?.map(|(types, _)| types),
        };
        if let Some(client) = &client {
            check_client_module(client, &layout)?;
            layout.features = client.features();
            layout.crates = Crates::from_manifest(client.path())?.unwrap_or_default();
        }
        let of_manifests = manifest::settings(client.as_ref(), types.as_ref())?;
        settings.clone().or(of_manifests).apply_to(&mut layout, &root)?;
        let of_types = if layout.has_client_module() { client.as_ref() } else { types.as_ref() };
        let types_dir = of_types.map(Manifest::source_dir);
        Ok(Project { root, layout, has_client: client.is_some(), types_dir })
    }

    /// Fails unless the client's package exists: cargo would not build sources outside a package.
    pub(super) fn require_client(&self) -> Result<()> {
        if !self.has_client {
            let package = self.root.join(self.layout.client_package());
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
            if let Some((package, module)) = module_directory(directory) {
                layout = layout.with_client_module(package, &module);
                return Ok(self.with_crd_dir(layout));
            }
            let package = directory.strip_suffix("/src").unwrap_or(directory).rsplit('/').next().unwrap_or_default();
            if package.is_empty() || package == "src" {
                bail!(
                    "`--client-dir {directory}` is not in a package; set the source directory of one, such as `my-client/src`"
                );
            }
            layout.client_crate = package.replace('-', "_");
            layout.client_dir = directory.to_owned();
        }
        Ok(self.with_crd_dir(layout))
    }

    fn with_crd_dir(&self, layout: Layout) -> Layout {
        match &self.crd_dir {
            Some(directory) => Layout { crd_dir: directory.trim_end_matches('/').to_owned(), ..layout },
            None => layout,
        }
    }
}

/// Returns the directory of the package and the path of the module, if a source directory is below that of a package.
fn module_directory(directory: &str) -> Option<(&str, String)> {
    if directory.ends_with("/src") {
        return None;
    }
    let (package, module) = directory.rsplit_once("/src/").or_else(|| Some(("", directory.strip_prefix("src/")?)))?;
    let module = module.replace('/', "::");
    is_module_path(&module).then_some((package, module))
}

fn is_module_path(path: &str) -> bool {
    path.split("::").all(|name| syn::parse_str::<syn::Ident>(name).is_ok())
}

/// Makes the client a module of the types crate if the options or the manifest of the types declare one. `--client-dir`
/// takes precedence over the manifest.
fn with_client_module(layout: Layout, root: &Path, dirs: &ProjectDirs, settings: &Settings) -> Result<Layout> {
    if dirs.client_dir.is_some() {
        if settings.client_module.is_some() {
            bail!("`--client-dir` and `--client-module` exclude each other; remove one of them");
        }
        return Ok(layout);
    }
    let types = Manifest::find_types(root, &layout)?;
    let of_types = types.as_ref().map_or(Ok(None), |(types, _)| types.settings())?;
    let Some(module) = settings.client_module.clone().or(of_types.and_then(|settings| settings.client_module)) else {
        return Ok(layout);
    };
    if !is_module_path(&module) {
        bail!("`{module}` is not the path of a module; set `client-module` to a name such as `client`");
    }
    let Some((_, package)) = types else {
        bail!(
            "there is no package of `{}` in {}; set the directory of the module, such as `--client-dir \
             my-operator/src/{module}`",
            layout.types_crate,
            root.display()
        );
    };
    Ok(layout.with_client_module(&package, &module))
}

/// Fails if the client is a module of another crate than that of the kinds.
fn check_client_module(client: &Manifest, layout: &Layout) -> Result<()> {
    if layout.has_client_module() && !client.is_crate(&layout.types_crate) {
        bail!(
            "{} is not the manifest of `{}`, the crate of the kinds: a client outside of it is a crate, such as \
             `--client-dir my-client/src`",
            client.path().display(),
            layout.types_crate
        );
    }
    Ok(())
}

/// Returns the crate of the first kind; `None` without kinds.
fn types_crate(groups: &[ApiGroup]) -> Option<&'static str> {
    let group = groups.iter().find(|group| group.kinds().next().is_some())?;
    group.module.split("::").next()
}
