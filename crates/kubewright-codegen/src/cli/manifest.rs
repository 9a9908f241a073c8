//! The cargo manifests of a project.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::settings::Settings;
use crate::layout::Layout;

/// The Cargo.toml of a package.
pub(super) struct Manifest {
    path: PathBuf,
    content: toml::Table,
}

impl Manifest {
    /// Reads the manifest of the client's package, if it exists.
    pub(super) fn find_client(root: &Path, layout: &Layout) -> Result<Option<Self>> {
        Self::read(root.join(layout.client_package()).join("Cargo.toml"))
    }

    /// Reads the manifest of the types, if their package is the root, or beside the client's in a directory of the same
    /// name. Also returns the directory of the package relative to the root.
    pub(super) fn find_types(root: &Path, layout: &Layout) -> Result<Option<(Self, String)>> {
        let beside = layout.client_package().rsplit_once('/').map_or(String::new(), |(parent, _)| format!("{parent}/"));
        for name in [layout.types_crate.replace('_', "-"), layout.types_crate.clone()] {
            let directory = format!("{beside}{name}");
            if let Some(manifest) = Self::read(root.join(&directory).join("Cargo.toml"))? {
                return Ok(Some((manifest, directory)));
            }
        }
        let of_root = Self::read(root.join("Cargo.toml"))?.filter(|manifest| manifest.is_crate(&layout.types_crate));
        Ok(of_root.map(|manifest| (manifest, String::new())))
    }

    fn read(path: PathBuf) -> Result<Option<Self>> {
        if !path.is_file() {
            return Ok(None);
        }
        let context = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(&path).with_context(context)?;
        let content = text.parse().with_context(context)?;
        Ok(Some(Manifest { path, content }))
    }

    /// Returns the source directory of the package.
    pub(super) fn source_dir(&self) -> PathBuf {
        self.path.with_file_name("src")
    }

    /// Whether the library of the package is this crate.
    pub(super) fn is_crate(&self, name: &str) -> bool {
        let name_in = |table: &str| self.content.get(table)?.get("name")?.as_str();
        name_in("lib").or_else(|| name_in("package")).is_some_and(|found| found.replace('-', "_") == name)
    }

    /// Returns the path of the file, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the cargo features that the package declares.
    pub(super) fn features(&self) -> BTreeSet<String> {
        let features = self.content.get("features").and_then(toml::Value::as_table);
        features.into_iter().flat_map(toml::Table::keys).cloned().collect()
    }

    /// Returns its `[package.metadata.codegen]`, if it has one.
    pub(super) fn settings(&self) -> Result<Option<Settings>> {
        let metadata = self.content.get("package").and_then(|package| package.get("metadata"));
        let Some(table) = metadata.and_then(|metadata| metadata.get("codegen")) else { return Ok(None) };
        let settings = table.clone().try_into();
        settings.map(Some).with_context(|| format!("{}: `[package.metadata.codegen]`", self.path.display()))
    }
}

/// Returns the settings in the manifest of the types or the client. Only one of them may have any.
pub(super) fn settings(client: Option<&Manifest>, types: Option<&Manifest>) -> Result<Settings> {
    let settings_in = |manifest: Option<&Manifest>| manifest.map_or(Ok(None), Manifest::settings);
    match (settings_in(client)?, settings_in(types)?, client, types) {
        (Some(_), Some(_), Some(client), Some(types)) => bail!(
            "`[package.metadata.codegen]` is both in {} and in {}; remove one of them",
            client.path.display(),
            types.path.display()
        ),
        (of_client, of_types, ..) => Ok(of_client.or(of_types).unwrap_or_default()),
    }
}

/// Returns the version of the workspace, or of the package at its root, if there is one.
pub(super) fn workspace_version(root: &Path) -> Result<Option<String>> {
    let Some(manifest) = Manifest::read(root.join("Cargo.toml"))? else { return Ok(None) };
    let of_package = |table: Option<&toml::Value>| table?.get("package")?.get("version")?.as_str().map(str::to_owned);
    let of_root = || manifest.content.get("package")?.get("version")?.as_str().map(str::to_owned);
    Ok(of_package(manifest.content.get("workspace")).or_else(of_root))
}

/// Returns the nearest directory whose Cargo.toml has a `[workspace]`.
pub(super) fn workspace_root(from: &Path) -> Result<PathBuf> {
    let is_root = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    let message = "no Cargo.toml with `[workspace]` in the current directory or its parents; set `--root`";
    Ok(from.ancestors().find(is_root).context(message)?.to_owned())
}
