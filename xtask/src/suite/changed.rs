//! `cargo xtask test --changed`: the tests of the changed crates and of their dependents.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use serde_json::Value;

use super::binaries;
use crate::cargo;

/// A package of the workspace.
struct Package {
    /// Relative to the root of the workspace.
    directory: PathBuf,
    /// The packages of the workspace that it depends on, also for its tests.
    dependencies: BTreeSet<String>,
}

/// Runs the tests. Exits with 0 if no crate changed.
pub(crate) fn run(base: Option<&str>) -> ExitCode {
    let Some((packages, files)) = packages().zip(changed_files(base)) else {
        eprintln!("error: cannot determine the changed crates: `cargo metadata` or `git diff` failed");
        return ExitCode::from(2);
    };
    let selected = with_dependents(&packages, &changed_packages(&packages, &files));
    if selected.is_empty() {
        println!("no crate changed");
        return ExitCode::SUCCESS;
    }
    println!("testing {}", selected.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let selection: Vec<&str> = selected.iter().flat_map(|name| ["--package", name]).collect();
    let totals = binaries::run(&selection, &[("KUBEWRIGHT_SKIP_CONTROL_PLANE", "1")]);
    println!("\n{totals}");
    if totals.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the packages of the workspace by name.
fn packages() -> Option<BTreeMap<String, Package>> {
    let output = cargo::command(["metadata", "--format-version", "1", "--no-deps", "--offline"]).output().ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    let root = cargo::workspace_root();
    let packages = metadata["packages"].as_array()?;
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let read = |package: &Value| {
        let directory = Path::new(package["manifest_path"].as_str()?).parent()?;
        let dependencies =
            package["dependencies"].as_array()?.iter().filter_map(|dependency| dependency["name"].as_str());
        let dependencies = dependencies.filter(|name| names.contains(name)).map(str::to_owned).collect();
        let directory = directory.strip_prefix(&root).unwrap_or(directory).to_owned();
        Some((package["name"].as_str()?.to_owned(), Package { directory, dependencies }))
    };
    packages.iter().map(read).collect()
}

/// Returns the files that differ from the base revision, untracked ones included.
fn changed_files(base: Option<&str>) -> Option<Vec<PathBuf>> {
    let base = match base {
        Some(base) => base.to_owned(),
        None => git(&["merge-base", "HEAD", "origin/main"]).or_else(|| git(&["rev-parse", "HEAD"]))?,
    };
    let changed = git(&["diff", "--name-only", base.trim()])?;
    let untracked = git(&["ls-files", "--others", "--exclude-standard"])?;
    Some(changed.lines().chain(untracked.lines()).map(PathBuf::from).collect())
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(cargo::workspace_root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the packages that own the files: for each file that of the nearest directory above.
fn changed_packages(packages: &BTreeMap<String, Package>, files: &[PathBuf]) -> BTreeSet<String> {
    let owner = |file: &PathBuf| {
        let above = packages.iter().filter(|(_, package)| file.starts_with(&package.directory));
        above.max_by_key(|(_, package)| package.directory.components().count()).map(|(name, _)| name.clone())
    };
    files.iter().filter_map(owner).collect()
}

/// Adds the packages that depend on the changed ones, directly or not.
fn with_dependents(packages: &BTreeMap<String, Package>, changed: &BTreeSet<String>) -> BTreeSet<String> {
    let mut selected = changed.clone();
    loop {
        let depends = |package: &Package| !package.dependencies.is_disjoint(&selected);
        let added: Vec<String> = packages
            .iter()
            .filter(|(name, package)| !selected.contains(*name) && depends(package))
            .map(|(name, _)| name.clone())
            .collect();
        if added.is_empty() {
            return selected;
        }
        selected.extend(added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> BTreeMap<String, Package> {
        let package = |directory: &str, dependencies: &[&str]| Package {
            directory: PathBuf::from(directory),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
        };
        [
            ("core".to_owned(), package("core", &[])),
            ("runtime".to_owned(), package("runtime", &["core"])),
            ("client".to_owned(), package("client", &["runtime"])),
            ("tests".to_owned(), package("tests", &["core"])),
            ("fixture".to_owned(), package("tests/fixture", &[])),
        ]
        .into()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_file_belongs_to_the_nearest_package_above() {
        let files = ["tests/fixture/src/lib.rs", "runtime/src/store.rs", "README.md"].map(PathBuf::from);
        assert_eq!(changed_packages(&workspace(), &files), names(&["fixture", "runtime"]));
    }

    #[test]
    fn dependents_are_selected_at_any_distance() {
        assert_eq!(with_dependents(&workspace(), &names(&["runtime"])), names(&["client", "runtime"]));
        assert_eq!(with_dependents(&workspace(), &names(&["core"])), names(&["client", "core", "runtime", "tests"]));
        assert_eq!(with_dependents(&workspace(), &names(&[])), names(&[]));
    }
}
