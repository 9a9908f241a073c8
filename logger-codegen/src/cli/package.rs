//! What the manifests of a project say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::Layout;

/// The manifest of the client's package, which must be there: files in no package would be built by nobody.
pub(super) fn manifest(root: &Path, layout: &Layout) -> Result<PathBuf> {
    let package = root.join(layout.client_dir.strip_suffix("/src").unwrap_or(&layout.client_dir));
    let manifest = package.join("Cargo.toml");
    if !manifest.is_file() {
        let package = package.display();
        bail!(
            "there is no package in {package}: make it (an empty library crate), or name its sources with --client-dir"
        );
    }
    Ok(manifest)
}

/// The cargo features that a package declares.
pub(super) fn features(manifest: &Path) -> Result<BTreeSet<String>> {
    let named = || format!("cannot read {}", manifest.display());
    let text = std::fs::read_to_string(manifest).with_context(named)?;
    let package: toml::Table = text.parse().with_context(named)?;
    let features = package.get("features").and_then(toml::Value::as_table);
    Ok(features.into_iter().flat_map(toml::Table::keys).cloned().collect())
}

pub(super) fn workspace_root(from: &Path) -> Result<PathBuf> {
    let is_root = |directory: &&Path| {
        std::fs::read_to_string(directory.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest.lines().any(|line| line.trim_start().starts_with("[workspace")))
    };
    let root = from.ancestors().find(is_root).context("no Cargo.toml with `[workspace]` here or above; give --root")?;
    Ok(root.to_owned())
}
