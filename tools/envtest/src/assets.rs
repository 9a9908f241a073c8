//! The binaries of the control plane: found, or built from the Go module beside this crate.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::{env, iter};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::lock::Lock;
use crate::paths;
use crate::process::last_lines;
use crate::progress::Progress;

/// The end of a message about missing binaries: how to get them.
pub const HOW_TO_GET: &str = "get it with: cargo xtask envtest build";

const ETCD: &str = "etcd";
const KUBE_APISERVER: &str = "kube-apiserver";
const KUBECTL: &str = "kubectl";

/// The convention of the Kubernetes ecosystem: a directory with all three binaries.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";
const REQUIRE_VARIABLE: &str = "LOGGER_REQUIRE_CONTROL_PLANE";

/// How much of a failed `go build` is shown.
const SHOWN_LINES: usize = 30;

/// Where the binaries are: `KUBEBUILDER_ASSETS` if set, else what [`build`] has built; `None` when there are none.
///
/// A `KUBEBUILDER_ASSETS` that lacks a binary is an error naming it.
pub fn find() -> Result<Option<Assets>> {
    if let Some(dir) = env::var_os(ASSETS_VARIABLE).filter(|dir| !dir.is_empty()) {
        let assets = Assets::at(PathBuf::from(dir));
        return assets.checked().with_context(|| format!("{ASSETS_VARIABLE} is set but not usable")).map(Some);
    }
    Ok(Assets::at(paths::built_assets()?).checked().ok())
}

/// [`find`] for a test suite: without a control plane it says on one line that `what` is skipped, and how to get one.
///
/// With `LOGGER_REQUIRE_CONTROL_PLANE=1` in the environment a missing control plane is an error instead.
pub fn find_or_skip(what: &str) -> Result<Option<Assets>> {
    let found = find()?;
    if found.is_none() {
        let required = env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value == "1");
        ensure!(!required, "{what}: no control plane, and {REQUIRE_VARIABLE} is 1; {HOW_TO_GET}");
        let line = format!("SKIPPED {what}: no control plane; {HOW_TO_GET}\n");
        // Not eprintln!, whose output the test harness hides when the test passes; and one write, so that it stays one line.
        io::stderr().write_all(line.as_bytes())?;
    }
    Ok(found)
}

/// Builds the binaries with `go build`, unless [`find`] already has them.
///
/// They appear in their place all at once: an interrupted build leaves nothing that [`find`] would take for a result.
pub fn build() -> Result<Assets> {
    if let Some(assets) = find()? {
        return Ok(assets);
    }
    let _lock = Lock::acquire("build", &AtomicBool::new(false))?;
    match find()? {
        // Another build ended while this one waited for the lock.
        Some(assets) => Ok(assets),
        None => build_into(&paths::built_assets()?),
    }
}

/// A directory with etcd, kube-apiserver and kubectl in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    dir: PathBuf,
}

impl Assets {
    /// The directory, which is what `KUBEBUILDER_ASSETS` wants to be.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The etcd server.
    pub fn etcd(&self) -> PathBuf {
        self.dir.join(ETCD)
    }

    /// The Kubernetes API server.
    pub fn kube_apiserver(&self) -> PathBuf {
        self.dir.join(KUBE_APISERVER)
    }

    /// The command line client.
    pub fn kubectl(&self) -> PathBuf {
        self.dir.join(KUBECTL)
    }

    fn at(dir: PathBuf) -> Assets {
        Assets { dir }
    }

    fn checked(self) -> Result<Assets> {
        let names = [ETCD, KUBE_APISERVER, KUBECTL];
        let missing: Vec<_> = names.into_iter().filter(|name| !self.dir.join(name).is_file()).collect();
        ensure!(missing.is_empty(), "{} lacks {}", self.dir.display(), missing.join(", "));
        // A server is started with the data directory as its own, so a relative path would no longer lead anywhere.
        let dir = self.dir.canonicalize().with_context(|| format!("cannot resolve {}", self.dir.display()))?;
        Ok(Assets { dir })
    }
}

fn build_into(bin: &Path) -> Result<Assets> {
    let version = paths::kubernetes_version()?;
    let progress = Progress::start(format!(
        "building etcd and Kubernetes {version} (about 4 minutes on 2 cores the first time, seconds with a warm Go cache)"
    ));
    // Always the same one: what an interrupted build has left there, the next one removes.
    let partial = bin.with_extension("partial");
    if let Err(error) = fill(&partial, version).and_then(|()| replace(bin, &partial)) {
        remove_if_there(&partial)?;
        return Err(error);
    }
    progress.done(&format!("built Kubernetes {version} in {}", bin.display()));
    Assets::at(bin.to_owned()).checked()
}

/// Builds into `dir`, and gives the binaries their names.
fn fill(dir: &Path, version: &str) -> Result<()> {
    make_empty(dir)?;
    go_build(dir, version)?;
    // The package go.etcd.io/etcd/server/v3 gives its binary its own last word.
    fs::rename(dir.join("server"), dir.join(ETCD)).context("go build made no etcd")?;
    Assets::at(dir.to_owned()).checked().context("go build made too little").map(drop)
}

fn replace(old: &Path, new: &Path) -> Result<()> {
    remove_if_there(old)?;
    fs::rename(new, old).with_context(|| format!("cannot move the binaries to {}", old.display()))
}

fn go_build(into: &Path, version: &str) -> Result<()> {
    let output = Command::new("go")
        .args(["build", "-trimpath", "-ldflags", &linker_flags(version)?, "-o"])
        .arg(into)
        .arg("tool")
        .current_dir(paths::module_dir())
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { status, stderr, .. }) => {
            bail!("go build failed ({status}):\n{}", last_lines(&String::from_utf8_lossy(&stderr), SHOWN_LINES))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!(
            "go is not installed, and the control plane is built with it: install Go (https://go.dev/dl) \
             or set {ASSETS_VARIABLE} to a directory with {ETCD}, {KUBE_APISERVER} and {KUBECTL}"
        )),
        Err(error) => Err(error).context("cannot run go"),
    }
}

/// The version a binary reports is set by the linker; without it an API server says v0.0.0 and kubectl warns about skew.
fn linker_flags(version: &str) -> Result<String> {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        bail!("go.mod asks for k8s.io/kubernetes {version}, which is not a version")
    };
    let settings = [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)]
        .map(|(name, value)| format!("-X k8s.io/component-base/version.{name}={value}"));
    Ok(iter::once("-s -w".to_owned()).chain(settings).collect::<Vec<_>>().join(" "))
}

fn make_empty(dir: &Path) -> Result<()> {
    remove_if_there(dir)?;
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

fn remove_if_there(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_lacks_binaries_is_refused_with_their_names() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(KUBE_APISERVER), "").unwrap();
        let error = Assets::at(dir.path().to_owned()).checked().unwrap_err().to_string();
        assert!(error.ends_with("lacks etcd, kubectl"), "{error}");
    }

    #[test]
    fn a_complete_directory_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        for name in [ETCD, KUBE_APISERVER, KUBECTL] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let assets = Assets::at(dir.path().to_owned()).checked().unwrap();
        assert_eq!(assets.etcd(), assets.dir().join("etcd"));
    }

    #[test]
    fn the_linker_sets_what_the_binaries_report() {
        let version = "k8s.io/component-base/version";
        assert_eq!(
            linker_flags("v1.36.3").unwrap(),
            format!("-s -w -X {version}.gitVersion=v1.36.3 -X {version}.gitMajor=1 -X {version}.gitMinor=36")
        );
        assert!(linker_flags("latest").is_err());
    }
}
