//! The kubeconfig of a program that connects to the cluster of kubectl.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    path::{Path, PathBuf, absolute},
};

use super::{DeployError, Kubectl};

/// The kubeconfig of a program, which selects the context with the variable `KUBECONFIG` only.
#[derive(Debug)]
pub struct Kubeconfig {
    variable: OsString,
    /// A temporary file, deleted on drop.
    file: Option<PathBuf>,
}

impl Kubeconfig {
    /// Writes a temporary kubeconfig with the context of kubectl and nothing else. Only the user can read it, since it
    /// contains credentials.
    ///
    /// # Errors
    /// Fails if kubectl has no such context, or if the file cannot be written.
    pub fn from_context(kubectl: &Kubectl) -> Result<Self, DeployError> {
        let text = kubectl.run(&["config", "view", "--minify", "--flatten", "--raw"])?;
        let path = env::temp_dir().join(format!("kubeconfig-{:016x}", RandomState::new().build_hasher().finish()));
        // An incomplete file is deleted as well.
        let kubeconfig = Kubeconfig { variable: path.clone().into(), file: Some(path.clone()) };
        write_private(&path, &text).map_err(|source| DeployError::Write { path, source })?;
        Ok(kubeconfig)
    }

    /// Returns the kubeconfig of a path, or of a list of paths as in `KUBECONFIG`. Relative paths are resolved, since
    /// the program can run in another directory.
    ///
    /// # Errors
    /// Fails if the current directory is unknown.
    pub fn from_paths(paths: &OsStr) -> io::Result<Self> {
        let paths = env::split_paths(paths).filter(|path| !path.as_os_str().is_empty()).map(absolute);
        let paths = paths.collect::<io::Result<Vec<_>>>()?;
        let variable = env::join_paths(paths).map_err(io::Error::other)?;
        Ok(Kubeconfig { variable, file: None })
    }

    /// Returns the value of the variable `KUBECONFIG`.
    #[must_use]
    pub fn variable(&self) -> &OsStr {
        &self.variable
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            drop(fs::remove_file(file));
        }
    }
}

/// Writes a new file that only the user can read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
