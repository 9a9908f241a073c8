//! The binaries of a control plane.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// The environment variable that names the directory of the binaries, which is that of controller-runtime.
pub const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// A directory with etcd, kube-apiserver and kubectl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    dir: PathBuf,
}

impl Assets {
    /// Returns the binaries in the directory of [`ASSETS_VARIABLE`]; `None` if that is not set or empty.
    ///
    /// # Errors
    /// Fails if the directory lacks a binary, and names it.
    pub fn from_env() -> Result<Option<Assets>> {
        let Some(dir) = env::var_os(ASSETS_VARIABLE).filter(|dir| !dir.is_empty()) else { return Ok(None) };
        let assets = Assets::in_dir(Path::new(&dir));
        assets.map(Some).map_err(|error| Error::AssetsNotUsable(Box::new(error)))
    }

    /// Returns the binaries in a directory, such as other programs under these names.
    ///
    /// # Errors
    /// Fails if the directory lacks a binary, and names it.
    pub fn in_dir(dir: &Path) -> Result<Assets> {
        Ok(Assets { dir: directory_with(dir, &["etcd", "kube-apiserver", "kubectl"])? })
    }

    /// Returns the directory, the value for [`ASSETS_VARIABLE`].
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of the etcd server.
    pub fn etcd(&self) -> PathBuf {
        self.dir.join("etcd")
    }

    /// Returns the path of the Kubernetes API server.
    pub fn kube_apiserver(&self) -> PathBuf {
        self.dir.join("kube-apiserver")
    }

    /// Returns the path of the command line client.
    pub fn kubectl(&self) -> PathBuf {
        self.dir.join("kubectl")
    }
}

/// Returns the directory with an absolute path. Fails if it lacks programs, and names them.
pub fn directory_with(dir: &Path, programs: &[&str]) -> Result<PathBuf> {
    let missing: Vec<_> = programs.iter().filter(|name| !dir.join(name).is_file()).map(ToString::to_string).collect();
    if !missing.is_empty() {
        return Err(Error::MissingBinaries { dir: dir.to_owned(), missing });
    }
    // The servers run in their data directory, where a relative path would not resolve.
    dir.canonicalize().map_err(|error| Error::from_io(format!("cannot resolve {}", dir.display()), error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_directory_without_all_programs_is_an_error_that_names_the_missing_ones() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("kube-apiserver"), "").unwrap();
        let error = Assets::in_dir(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("lacks etcd, kubectl"), "{error}");
    }

    #[test]
    fn a_complete_directory_is_valid() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["etcd", "kube-apiserver", "kubectl"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(Assets::in_dir(dir.path()).unwrap().dir(), dir.path().canonicalize().unwrap());
    }
}
