//! What the manifests of a project say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Settings;
use crate::Layout;

/// The Cargo.toml of a package.
pub(super) struct Manifest {
    path: PathBuf,
    content: toml::Table,
}

impl Manifest {
    /// That of the client's package, which must be there: files in no package would be built by nobody.
    pub(super) fn of_client(root: &Path, layout: &Layout) -> Result<Self> {
        let package = root.join(layout.client_dir.strip_suffix("/src").unwrap_or(&layout.client_dir));
        let Some(manifest) = Self::read(package.join("Cargo.toml"))? else {
            let package = package.display();
            bail!(
                "there is no package in {package}: make it (an empty library crate), or name its sources with --client-dir"
            );
        };
        Ok(manifest)
    }

    /// That of the types, if their package stands beside the client's and has the name of its directory.
    pub(super) fn of_types(root: &Path, layout: &Layout) -> Result<Option<Self>> {
        let client = layout.client_dir.strip_suffix("/src").unwrap_or(&layout.client_dir);
        let beside = client.rsplit_once('/').map_or(root.to_owned(), |(parent, _)| root.join(parent));
        for name in [layout.types_crate.replace('_', "-"), layout.types_crate.clone()] {
            if let Some(manifest) = Self::read(beside.join(name).join("Cargo.toml"))? {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    fn read(path: PathBuf) -> Result<Option<Self>> {
        if !path.is_file() {
            return Ok(None);
        }
        let named = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(&path).with_context(named)?;
        let content = text.parse().with_context(named)?;
        Ok(Some(Manifest { path, content }))
    }

    /// The cargo features that the package declares.
    pub(super) fn features(&self) -> BTreeSet<String> {
        let features = self.content.get("features").and_then(toml::Value::as_table);
        features.into_iter().flat_map(toml::Table::keys).cloned().collect()
    }

    /// Its table of settings, if it has one.
    fn settings(&self) -> Result<Option<Settings>> {
        let metadata = self.content.get("package").and_then(|package| package.get("metadata"));
        let Some(table) = metadata.and_then(|metadata| metadata.get("codegen")) else { return Ok(None) };
        let settings = table.clone().try_into();
        settings.map(Some).with_context(|| format!("{}: `[package.metadata.codegen]`", self.path.display()))
    }
}

/// What the types' or the client's manifest says of how files are written; it stands in one of them.
pub(super) fn settings(client: &Manifest, types: Option<&Manifest>) -> Result<Settings> {
    let of_types = types.map_or(Ok(None), Manifest::settings)?;
    match (client.settings()?, of_types, types) {
        (Some(_), Some(_), Some(types)) => bail!(
            "`[package.metadata.codegen]` stands in {} and in {}; keep one of them",
            client.path.display(),
            types.path.display()
        ),
        (client, types, _) => Ok(client.or(types).unwrap_or_default()),
    }
}

pub(super) fn workspace_root(from: &Path) -> Result<PathBuf> {
    let is_root = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    let root = from.ancestors().find(is_root).context("no Cargo.toml with `[workspace]` here or above; give --root")?;
    Ok(root.to_owned())
}
