//! `release-fixtures`: writes objects of each kind for a release, which later versions have to decode and convert.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use kubewright_core::{
    conversion::testing,
    meta::{ApiGroup, ApiKind},
};
use serde_json::Value;

use super::{manifest, print::print};
use crate::output::write_new;

/// The number of objects of each kind and version.
const SAMPLES: usize = 4;

/// Options of `release-fixtures`.
#[derive(Clone, Debug, clap::Args)]
pub struct ReleaseFixtures {
    /// The release [default: the version of the workspace, or of the package at its root].
    #[arg(value_name = "VERSION")]
    pub release: Option<String>,
    /// Root of the workspace [default: the nearest parent directory whose Cargo.toml has a `[workspace]`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Directory of the fixtures, relative to the root.
    #[arg(long, value_name = "DIR", default_value = "tests/released")]
    pub directory: PathBuf,
}

pub(super) fn run(groups: &[ApiGroup], args: &ReleaseFixtures) -> Result<ExitCode> {
    let root = match &args.root {
        Some(root) => root.clone(),
        None => manifest::workspace_root(&std::env::current_dir().context("cannot read the current directory")?)?,
    };
    let release = match args.release.clone() {
        Some(release) => release,
        None => manifest::workspace_version(&root)?
            .context("the workspace has no version; pass it: `cargo xtask release-fixtures 1.0.0`")?,
    };
    check_release(&release)?;
    let directory = root.join(&args.directory).join(&release);
    if directory.exists() {
        bail!(
            "{} exists: the objects of a release never change; select a new version, or remove the directory if the \
             version is not released",
            directory.display()
        );
    }
    let mut files = Vec::new();
    for group in groups.iter().filter(|group| !group.group.is_empty()) {
        for kind in group.kinds().filter(|kind| kind.schema.is_some()) {
            files.push(fixture(&directory, group, kind)?);
        }
    }
    if files.is_empty() {
        bail!("the API has no kinds with a schema");
    }
    let contents: Vec<(PathBuf, &str)> = files.iter().map(|(path, text)| (path.clone(), text.as_str())).collect();
    write_new(&contents)?;
    print(&format!("wrote {} files to {}", files.len(), directory.display()));
    Ok(ExitCode::SUCCESS)
}

/// A release is the name of one directory.
fn check_release(release: &str) -> Result<()> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || ['.', '-', '+', '_'].contains(&c);
    if release.is_empty() || release.starts_with('.') || !release.chars().all(is_valid) {
        bail!("invalid release `{release}`: expected a version, such as `1.0.0`");
    }
    Ok(())
}

/// Returns the path and the text of the file with the objects of a kind.
fn fixture(directory: &Path, group: &ApiGroup, kind: &ApiKind) -> Result<(PathBuf, String)> {
    let api_version = format!("{}/{}", group.group, group.version);
    let objects = testing::samples(kind, &api_version, SAMPLES).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    if objects.is_empty() {
        bail!(
            "no random object of {} {api_version} is valid by its patterns and rules; write objects to {} by hand",
            kind.kind,
            directory.display()
        );
    }
    let path = directory.join(format!("{}_{}_{}.yaml", group.group, group.version, kind.plural));
    Ok((path, documents(&objects)?))
}

fn documents(objects: &[Value]) -> Result<String> {
    let mut text = String::new();
    for object in objects {
        let document = serde_saphyr::to_string(&kubewright_core::wire::Plain(object)).context("cannot write YAML")?;
        write!(text, "---\n{document}")?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_one_directory() {
        for valid in ["1.0.0", "v2.0.0-rc.1", "1.0.0+build"] {
            check_release(valid).unwrap();
        }
        for invalid in ["", "..", ".", "a/b", "a b"] {
            check_release(invalid).unwrap_err();
        }
    }
}
