//! The tests of kube-rs that need a cluster, in the versions of its crates that this workspace depends on.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{cargo, files, outcome::Outcomes, paths, sandbox::Sandbox, server::Server};

/// A crate with tests.
struct Tested {
    name: &'static str,
    features: &'static str,
    /// The features of the dev-dependency `kube`, which the published crate lacks: in the repository it is a path.
    kube: Option<&'static str>,
}

/// The features are those of tests, without the providers of TLS that need a C compiler.
const TESTED: [Tested; 3] = [
    Tested { name: "kube", features: "client,derive,jsonpatch,ring,runtime,rustls-tls,ws", kube: None },
    Tested {
        name: "kube-client",
        features: "client,jsonpatch,ring,rustls-tls,unstable-client,ws",
        kube: Some(r#""client", "derive", "ws""#),
    },
    Tested { name: "kube-runtime", features: "unstable-runtime", kube: Some(r#""client", "derive", "runtime""#) },
];

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// Runs the tests on a server.
pub(crate) fn run(server: &Server, sandbox: &Sandbox) -> Result<Outcomes> {
    let packages = packages()?;
    let plane = server.start()?;
    let mut outcomes = Outcomes::default();
    for tested in &TESTED {
        let directory = tested.check_out(&packages)?;
        let mut tests = server.command(sandbox, tested.build(&directory)?);
        // Tests that create objects of the same name must not run concurrently.
        tests.args(["--ignored", "--test-threads=1"]).env("KUBECONFIG", plane.kubeconfig());
        let log = format!("kube-rs-{}-{}", server.name, tested.name);
        outcomes.add_part(tested.name, cargo::run_tests(&mut tests, &directory, &log)?);
    }
    plane.stop()?;
    Ok(outcomes)
}

/// Returns the packages of the workspace and their dependencies. Cargo has checked the hashes of their sources.
fn packages() -> Result<Vec<Package>> {
    let mut cargo = kubewright_project::workspace::cargo(["metadata", "--format-version", "1", "--locked"]);
    let output = cargo.output().context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("cargo metadata printed no metadata")?;
    Ok(metadata.packages)
}

impl Tested {
    /// Copies the sources of the crate, completes its manifest, and returns the directory. A copy of the same version
    /// is reused, with what cargo has compiled of it.
    fn check_out(&self, packages: &[Package]) -> Result<PathBuf> {
        let package = packages.iter().find(|package| package.name == self.name);
        let package = package.with_context(|| format!("the workspace does not depend on {}", self.name))?;
        let source = package.manifest_path.parent().context("a manifest is in a directory")?;
        let text = fs::read_to_string(&package.manifest_path)
            .with_context(|| format!("cannot read {}", package.manifest_path.display()))?;
        let completed = text + &self.addition(&package.version);
        let directory = paths::home()?.join("sources").join(format!("{}-{}", package.name, package.version));
        let manifest = directory.join("Cargo.toml");
        // It is written last.
        if !fs::read_to_string(&manifest).is_ok_and(|found| found == completed) {
            files::copy_directory(source, &directory)?;
            // The lock file of the crate may have versions that were yanked.
            let (from, to) = (envtest::workspace_root()?.join("Cargo.lock"), directory.join("Cargo.lock"));
            fs::copy(from, &to).with_context(|| format!("cannot write {}", to.display()))?;
            fs::write(&manifest, completed).with_context(|| format!("cannot write {}", manifest.display()))?;
        }
        Ok(directory)
    }

    /// Returns what is added to the manifest: it belongs to no other workspace, and its tests depend on `kube`.
    fn addition(&self, version: &str) -> String {
        let kube =
            |features: &str| format!("\n[dev-dependencies.kube]\nversion = \"={version}\"\nfeatures = [{features}]\n");
        format!("\n[workspace]\n{}", self.kube.map(kube).unwrap_or_default())
    }

    fn build(&self, directory: &Path) -> Result<PathBuf> {
        let (manifest, target) = (directory.join("Cargo.toml"), envtest::target_dir()?);
        let mut args: Vec<&OsStr> = ["--lib", "--features", self.features, "--manifest-path"].map(OsStr::new).into();
        args.extend([manifest.as_os_str(), OsStr::new("--target-dir"), target.as_os_str()]);
        // The tests enable the latest version. The variable of this workspace would enable a second one.
        cargo::build_tests(&args, &[("K8S_OPENAPI_ENABLED_VERSION", "")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_gets_the_dependency_that_published_crates_lack() {
        assert_eq!(TESTED[0].addition("5.0.0"), "\n[workspace]\n");
        let expected = "\n[workspace]\n\n[dev-dependencies.kube]\nversion = \"=5.0.0\"\nfeatures = [\"client\", \"derive\", \
                        \"ws\"]\n";
        assert_eq!(TESTED[1].addition("5.0.0"), expected);
    }
}
