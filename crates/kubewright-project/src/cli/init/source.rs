//! The options with the source of the crates of kubewright, and how they are checked before anything is written.

use std::path::{Path, PathBuf};

use crate::{
    cli::{git, relative},
    scaffold::{Dependencies, Problems, Reference},
};

/// Where a project gets the crates of kubewright from: exactly one of these.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Source {
    /// A git repository with the crates of kubewright, such as `https://example.com/kubewright.git`.
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
    /// A checkout of kubewright on this machine. `Cargo.toml` contains its path relative to the project.
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// A version of the crates of kubewright in the registry.
    #[arg(long, value_name = "VERSION")]
    pub registry_version: Option<String>,
}

/// A commit of the repository: at most one of these.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(multiple = false, requires = "git", conflicts_with_all = ["path", "registry_version"])]
pub struct CommitArgs {
    /// The complete hash of a commit of the repository.
    #[arg(long)]
    pub rev: Option<String>,
    /// A tag of the repository.
    #[arg(long)]
    pub tag: Option<String>,
    /// A branch of the repository [default: its default branch].
    #[arg(long)]
    pub branch: Option<String>,
}

impl CommitArgs {
    fn reference(&self) -> Option<Reference> {
        let rev = self.rev.clone().map(Reference::Rev);
        rev.or_else(|| self.tag.clone().map(Reference::Tag)).or_else(|| self.branch.clone().map(Reference::Branch))
    }
}

impl Source {
    /// Returns the source for a project in a directory, and adds what is wrong with it.
    pub(super) fn dependencies(&self, commit: &CommitArgs, root: &Path, problems: &mut Problems) -> Dependencies {
        if let Some(url) = &self.git {
            let reference = commit.reference();
            check_repository(url, reference.as_ref(), problems);
            return Dependencies::Git { url: url.clone(), reference };
        }
        match &self.path {
            Some(path) => Dependencies::Path(relative_path(path, root, problems)),
            None => {
                let version = self.registry_version.clone().unwrap_or_default();
                if semver::VersionReq::parse(&version).is_err() {
                    problems.add(format!("invalid version `{version}` of `--registry-version`: expected `1.2.3`"));
                }
                Dependencies::Version(version)
            }
        }
    }
}

/// Checks that a repository responds, and that the commit has the crates of kubewright.
fn check_repository(url: &str, reference: Option<&Reference>, problems: &mut Problems) {
    if !url.contains("://") {
        problems.add(format!("invalid URL `{url}` of `--git`: expected a scheme, such as `https://` or `ssh://git@`"));
        return;
    }
    match git::files(url, reference) {
        Ok(files) => {
            check_manifest(url, |manifest| files.iter().any(|file| file == manifest), problems);
        }
        Err(error) => problems.add(format!("cannot use `--git {url}`: {error}")),
    }
}

/// Returns the path of a checkout relative to a project, and adds what is wrong with it.
fn relative_path(path: &Path, root: &Path, problems: &mut Problems) -> String {
    let shown = path.display();
    check_manifest(&shown.to_string(), |manifest| path.join(manifest).is_file(), problems);
    match (relative::resolve(root), relative::resolve(path)) {
        (Ok(root), Ok(resolved)) => relative::relative(&root, &resolved).unwrap_or_else(|| {
            problems.add(format!("{shown} is on another drive than the project, so no relative path leads to it"));
            String::new()
        }),
        (Err(error), _) | (_, Err(error)) => {
            problems.add(format!("cannot resolve the path of {shown}: {error}"));
            String::new()
        }
    }
}

/// Checks that a source contains the crate.
fn check_manifest(source: &str, contains: impl FnOnce(&str) -> bool, problems: &mut Problems) {
    let manifest = Dependencies::manifest();
    if !contains(&manifest) {
        problems.add(format!("{source} is not a checkout of kubewright: it has no {manifest}"));
    }
}
