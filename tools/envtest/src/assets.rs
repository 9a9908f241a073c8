//! The binaries of the control plane: found, or built from the Go module of this crate.

use std::{
    env, fs,
    io::{self, ErrorKind, Write},
    iter,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::AtomicBool,
};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::{lock::Lock, paths, process::last_lines, progress::Progress};

/// The help in messages about missing binaries.
pub const HOW_TO_GET: &str = "get it with: cargo xtask envtest build";

const ETCD: &str = "etcd";
const KUBE_APISERVER: &str = "kube-apiserver";
const KUBECTL: &str = "kubectl";

/// The variable that names the directory of the binaries, as in the rest of the Kubernetes ecosystem.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";
const REQUIRE_VARIABLE: &str = "LOGGER_REQUIRE_CONTROL_PLANE";

/// The number of lines that are shown of a failed `go build`.
const SHOWN_LINES: usize = 30;

/// Returns the binaries in `KUBEBUILDER_ASSETS` if that is set, otherwise those that [`build`] built; `None` if there
/// are none.
///
/// Fails if `KUBEBUILDER_ASSETS` lacks a binary, and names it.
pub fn find() -> Result<Option<Assets>> {
    if let Some(dir) = env::var_os(ASSETS_VARIABLE).filter(|dir| !dir.is_empty()) {
        let assets = Assets::at(PathBuf::from(dir));
        return assets.validated().with_context(|| format!("{ASSETS_VARIABLE} is set but not usable")).map(Some);
    }
    Ok(Assets::at(paths::built_assets()?).validated().ok())
}

/// Returns the result of [`find`] for a test suite; without a control plane prints one line that names the suite and
/// tells how to get one.
///
/// With `LOGGER_REQUIRE_CONTROL_PLANE=1` in the environment, a missing control plane is an error instead. Prefer
/// [`Suite`](crate::Suite), which also reports the tests as ignored.
pub fn find_or_skip(suite: &str) -> Result<Option<Assets>> {
    let found = find_optional(suite)?;
    if found.is_none() {
        let line = format!("SKIPPED {suite}: no control plane; {HOW_TO_GET}\n");
        // Not eprintln!, which the test harness captures; and one write, so that the lines of concurrent suites do not
        // interleave.
        io::stderr().write_all(line.as_bytes())?;
    }
    Ok(found)
}

/// Returns the result of [`find`], but fails if there is no control plane and `LOGGER_REQUIRE_CONTROL_PLANE` is 1.
pub(crate) fn find_optional(suite: &str) -> Result<Option<Assets>> {
    let found = find()?;
    let is_required = env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value == "1");
    ensure!(found.is_some() || !is_required, "{suite}: no control plane, and {REQUIRE_VARIABLE} is 1; {HOW_TO_GET}");
    Ok(found)
}

/// Builds the binaries with `go build`, unless [`find`] returns some.
///
/// The directory is moved into place when it is complete: [`find`] never returns the result of an interrupted build.
pub fn build() -> Result<Assets> {
    if let Some(assets) = find()? {
        return Ok(assets);
    }
    let _lock = Lock::acquire("build", &AtomicBool::new(false))?;
    match find()? {
        // A concurrent build finished while this one waited for the lock.
        Some(assets) => Ok(assets),
        None => build_into(&paths::built_assets()?),
    }
}

/// A directory with etcd, kube-apiserver and kubectl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    dir: PathBuf,
}

impl Assets {
    /// Returns the directory, the value for `KUBEBUILDER_ASSETS`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of the etcd server.
    pub fn etcd(&self) -> PathBuf {
        self.dir.join(ETCD)
    }

    /// Returns the path of the Kubernetes API server.
    pub fn kube_apiserver(&self) -> PathBuf {
        self.dir.join(KUBE_APISERVER)
    }

    /// Returns the path of the command line client.
    pub fn kubectl(&self) -> PathBuf {
        self.dir.join(KUBECTL)
    }

    pub(crate) fn at(dir: PathBuf) -> Assets {
        Assets { dir }
    }

    fn validated(self) -> Result<Assets> {
        let names = [ETCD, KUBE_APISERVER, KUBECTL];
        let missing: Vec<_> = names.into_iter().filter(|name| !self.dir.join(name).is_file()).collect();
        ensure!(missing.is_empty(), "{} lacks {}", self.dir.display(), missing.join(", "));
        // The servers run in their data directory, where a relative path would not resolve.
        let dir = self.dir.canonicalize().with_context(|| format!("cannot resolve {}", self.dir.display()))?;
        Ok(Assets { dir })
    }
}

fn build_into(bin: &Path) -> Result<Assets> {
    let version = &paths::kubernetes_version()?;
    let progress = Progress::start(format!(
        "building etcd and Kubernetes {version} (about 4 minutes on 2 cores, seconds with a warm Go cache)"
    ));
    // A fixed name, so that the next build removes the rest of an interrupted one.
    let partial = bin.with_extension("partial");
    if let Err(error) = build_binaries(&partial, version).and_then(|()| replace_dir(bin, &partial)) {
        remove_dir_if_exists(&partial)?;
        return Err(error);
    }
    progress.done(&format!("built Kubernetes {version} in {}", bin.display()));
    Assets::at(bin.to_owned()).validated()
}

/// Builds into `dir`, and renames the binaries.
fn build_binaries(dir: &Path, version: &str) -> Result<()> {
    recreate_dir(dir)?;
    go_build(dir, version)?;
    // The binary of go.etcd.io/etcd/server/v3 has the last path element of its package as its name.
    fs::rename(dir.join("server"), dir.join(ETCD)).context("go build produced no etcd")?;
    Assets::at(dir.to_owned()).validated().context("go build produced too few binaries").map(drop)
}

fn replace_dir(old: &Path, new: &Path) -> Result<()> {
    remove_dir_if_exists(old)?;
    fs::rename(new, old).with_context(|| format!("cannot move the binaries to {}", old.display()))
}

fn go_build(into: &Path, version: &str) -> Result<()> {
    let output = Command::new("go")
        .args(["build", "-trimpath", "-ldflags", &linker_flags(version)?, "-o"])
        .arg(into)
        .arg("tool")
        .current_dir(paths::module_dir()?)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { status, stderr, .. }) => {
            bail!("go build failed ({status}):\n{}", last_lines(&String::from_utf8_lossy(&stderr), SHOWN_LINES))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!(
            "go is not installed, but the control plane is built with it: install Go (https://go.dev/dl) \
             or set {ASSETS_VARIABLE} to a directory with {ETCD}, {KUBE_APISERVER} and {KUBECTL}"
        )),
        Err(error) => Err(error).context("cannot run go"),
    }
}

/// Returns the linker flags that set the reported version. Without them the API server reports v0.0.0 and kubectl warns
/// about skew.
fn linker_flags(version: &str) -> Result<String> {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        bail!("invalid version of k8s.io/kubernetes in go.mod: {version}")
    };
    let settings = [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)]
        .map(|(name, value)| format!("-X k8s.io/component-base/version.{name}={value}"));
    Ok(iter::once("-s -w".to_owned()).chain(settings).collect::<Vec<_>>().join(" "))
}

fn recreate_dir(dir: &Path) -> Result<()> {
    remove_dir_if_exists(dir)?;
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

fn remove_dir_if_exists(dir: &Path) -> Result<()> {
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
    fn a_directory_without_all_binaries_is_an_error_that_names_the_missing_ones() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(KUBE_APISERVER), "").unwrap();
        let error = Assets::at(dir.path().to_owned()).validated().unwrap_err().to_string();
        assert!(error.ends_with("lacks etcd, kubectl"), "{error}");
    }

    #[test]
    fn a_complete_directory_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        for name in [ETCD, KUBE_APISERVER, KUBECTL] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let assets = Assets::at(dir.path().to_owned()).validated().unwrap();
        assert_eq!(assets.etcd(), assets.dir().join("etcd"));
    }

    #[test]
    fn the_linker_sets_the_reported_version() {
        let version = "k8s.io/component-base/version";
        assert_eq!(
            linker_flags("v1.36.3").unwrap(),
            format!("-s -w -X {version}.gitVersion=v1.36.3 -X {version}.gitMajor=1 -X {version}.gitMinor=36")
        );
        assert!(linker_flags("latest").is_err());
    }
}
