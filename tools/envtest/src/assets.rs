//! The binaries of the control plane: found, or built from the Go module of this crate.

use std::{
    env, fmt, fs,
    io::ErrorKind,
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
const SKIP_VARIABLE: &str = "LOGGER_SKIP_CONTROL_PLANE";

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

/// Returns the binaries for a test suite, or the reason why it runs without them.
///
/// The variables `LOGGER_REQUIRE_CONTROL_PLANE` and `LOGGER_SKIP_CONTROL_PLANE` count if they are 1. With the first, a
/// missing control plane is an error; with the second, none is used.
pub(crate) fn find_optional(suite: &str) -> Result<Result<Assets, Absence>> {
    let is_set = |name| env::var_os(name).is_some_and(|value| value == "1");
    select(suite, is_set(REQUIRE_VARIABLE), is_set(SKIP_VARIABLE), find)
}

fn select(
    suite: &str,
    is_required: bool,
    is_skipped: bool,
    find: impl FnOnce() -> Result<Option<Assets>>,
) -> Result<Result<Assets, Absence>> {
    match (is_required, is_skipped) {
        (true, true) => bail!("{REQUIRE_VARIABLE} and {SKIP_VARIABLE} are both 1; set at most one of them"),
        (false, true) => Ok(Err(Absence::Skipped)),
        (is_required, false) => {
            let found = find()?;
            ensure!(
                found.is_some() || !is_required,
                "{suite}: no control plane, and {REQUIRE_VARIABLE} is 1; {HOW_TO_GET}"
            );
            Ok(found.ok_or(Absence::NotFound))
        }
    }
}

/// The reason why a test suite uses no control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absence {
    NotFound,
    /// The environment declares that none is used.
    Skipped,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => write!(f, "no control plane; {HOW_TO_GET}"),
            Self::Skipped => write!(f, "skipped by {SKIP_VARIABLE}=1"),
        }
    }
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

    fn found() -> Result<Option<Assets>> {
        Ok(Some(Assets::at(PathBuf::from("bin"))))
    }

    #[test]
    fn a_suite_uses_the_control_plane_that_is_found() {
        for is_required in [false, true] {
            assert_eq!(select("suite", is_required, false, found).unwrap(), Ok(Assets::at(PathBuf::from("bin"))));
        }
    }

    #[test]
    fn a_missing_control_plane_is_an_error_only_if_it_is_required() {
        assert_eq!(select("suite", false, false, || Ok(None)).unwrap(), Err(Absence::NotFound));
        let error = select("suite", true, false, || Ok(None)).unwrap_err().to_string();
        assert!(error.starts_with("suite: no control plane, and LOGGER_REQUIRE_CONTROL_PLANE is 1"), "{error}");
    }

    #[test]
    fn a_skipped_control_plane_is_not_searched() {
        let absence = select("suite", false, true, || bail!("searched")).unwrap().unwrap_err();
        assert_eq!(absence, Absence::Skipped);
        assert_eq!(absence.to_string(), "skipped by LOGGER_SKIP_CONTROL_PLANE=1");
    }

    #[test]
    fn to_require_and_to_skip_the_control_plane_is_an_error_that_names_both_variables() {
        let error = select("suite", true, true, found).unwrap_err().to_string();
        assert!(error.contains(REQUIRE_VARIABLE) && error.contains(SKIP_VARIABLE), "{error}");
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
