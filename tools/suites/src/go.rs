//! Go modules of other projects: their sources, packages and tests.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use envtest::GoModule;
use serde::Deserialize;

use crate::{
    files,
    go_test::{self, Package as Tests},
    paths, program,
};

/// How long all tests of a module may take. Each package has a shorter limit.
const LIMIT: Duration = Duration::from_secs(3 * 60 * 60);
/// How long `go list` and `go build` may take, downloads included.
const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The fields of packages that are read.
const FIELDS: &str = "ImportPath,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports";

/// A package, as `go list -json` prints it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Package {
    pub(crate) import_path: String,
    #[serde(rename = "Dir")]
    pub(crate) directory: PathBuf,
    #[serde(default)]
    test_go_files: Vec<String>,
    #[serde(default)]
    x_test_go_files: Vec<String>,
    #[serde(default)]
    test_imports: Vec<String>,
    #[serde(default)]
    x_test_imports: Vec<String>,
}

impl Package {
    fn has_tests(&self) -> bool {
        !self.test_go_files.is_empty() || !self.x_test_go_files.is_empty()
    }

    /// Reports whether the tests import a package.
    pub(crate) fn tests_import(&self, path: &str) -> bool {
        self.test_imports.iter().chain(&self.x_test_imports).any(|import| import == path)
    }
}

/// Returns a directory with a copy of the sources of a module, in which its tests can write.
pub(crate) fn check_out(module: &GoModule) -> Result<PathBuf> {
    let directory = paths::home()?.join("sources").join(module.to_string().replace('/', "_"));
    files::copy_directory(&module.download()?, &directory)?;
    Ok(directory)
}

/// Returns the packages of a module that have tests. `go` is a command in its directory.
pub(crate) fn packages(mut go: Command) -> Result<Vec<Package>> {
    let output = program::log("go-list")?;
    run(go.args(["list", &format!("-json={FIELDS}"), "./..."]), &output)?;
    parse_packages(&fs::read(&output).with_context(|| format!("cannot read {}", output.display()))?)
}

fn parse_packages(json: &[u8]) -> Result<Vec<Package>> {
    let all = serde_json::Deserializer::from_slice(json).into_iter::<Package>();
    let mut packages = all.collect::<Result<Vec<_>, _>>().context("not the output of `go list -json`")?;
    packages.retain(Package::has_tests);
    Ok(packages)
}

/// Builds programs of a module into a directory. `go` is a command in the directory of the module.
pub(crate) fn build(mut go: Command, packages: &[String], directory: &Path) -> Result<()> {
    // A trailing slash makes go create the directory.
    run(go.args(["build", "-buildvcs=false", "-o"]).arg(directory.join("")).args(packages), &program::log("go-build")?)
}

/// Runs the tests of packages, one package at a time, and returns them by package.
/// `go` is a command in the directory of the module, and `log` names the files with the output.
pub(crate) fn test(
    mut go: Command,
    packages: &[&Package],
    args: &[&str],
    log: &str,
) -> Result<BTreeMap<String, Tests>> {
    let output = program::log(log)?;
    go.args(["test", "-json", "-count=1", "-p=1", "-timeout=20m", "-vet=off", "-buildvcs=false"]);
    go.args(packages.iter().map(|package| &package.import_path));
    // Fails if a test fails.
    program::run(go.arg("-args").args(args), &output, LIMIT)?;
    let events = File::open(&output).with_context(|| format!("cannot read {}", output.display()))?;
    let tests = go_test::parse(BufReader::new(events))?;
    let missing: Vec<_> = packages.iter().filter(|package| !tests.contains_key(&package.import_path)).collect();
    ensure!(missing.is_empty(), "{} packages have no result:\n{}", missing.len(), program::tail(&output));
    Ok(tests)
}

fn run(go: &mut Command, output: &Path) -> Result<()> {
    let status = program::run(go, output, BUILD_LIMIT)?;
    ensure!(status.success(), "go failed ({status}):\n{}", program::tail(output));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_with_tests_are_listed() {
        let json = r#"{"ImportPath": "m/a", "Dir": "/m/a", "XTestGoFiles": ["a_test.go"], "XTestImports": ["ginkgo"]}
            {"ImportPath": "m/b", "Dir": "/m/b"}
            {"ImportPath": "m/c", "Dir": "/m/c", "TestGoFiles": ["c_test.go"], "TestImports": ["testing"]}"#;
        let packages = parse_packages(json.as_bytes()).unwrap();
        let shown: Vec<_> =
            packages.iter().map(|package| (package.import_path.as_str(), package.tests_import("ginkgo"))).collect();
        assert_eq!(shown, [("m/a", true), ("m/c", false)]);
        assert_eq!(packages[0].directory, Path::new("/m/a"));
    }

    #[test]
    fn other_output_of_go_list_is_an_error() {
        assert!(parse_packages(b"go: no module").unwrap_err().to_string().contains("go list"));
    }
}
