//! The record of a control plane that outlives the command that started it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::identity::Identity;

/// Which processes the control plane is, and where its files are.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub(crate) api_server: Identity,
    pub(crate) etcd: Identity,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) assets: PathBuf,
}

impl State {
    /// The admin's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The directory of the binaries it runs.
    pub fn assets(&self) -> &Path {
        &self.assets
    }

    /// Reads the record; `None` when there is none.
    pub(crate) fn load(path: &Path) -> Result<Option<State>> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("cannot read {}; end what it names by hand, then remove it", path.display()))
                .map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes the record all at once.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let partial = path.with_extension("partial");
        fs::write(&partial, serde_json::to_vec_pretty(self)?)
            .and_then(|()| fs::rename(&partial, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Whether all of it still runs.
    pub(crate) fn is_running(&self) -> Result<bool> {
        Ok(self.api_server.is_running()? && self.etcd.is_running()?)
    }

    /// Stops what still runs, the API server first, and removes its directory, which must be in `home`.
    pub(crate) fn stop(&self, home: &Path) -> Result<()> {
        self.api_server.stop().context("cannot stop kube-apiserver")?;
        self.etcd.stop().context("cannot stop etcd")?;
        // The path comes from a file: it does not get to name just any directory.
        ensure!(self.dir.parent() == Some(home), "{} is not in {}, so it stays", self.dir.display(), home.display());
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.dir.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: &str = r#"{"pid": 4000000, "started": "1"}"#;

    fn record(home: &Path) -> String {
        let dir = home.join("d");
        format!(
            r#"{{"api_server": {GONE}, "etcd": {GONE}, "kubeconfig": "k", "dir": "{}", "assets": "a"}}"#,
            dir.display()
        )
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.json");
        assert_eq!(State::load(&path).unwrap(), None);
        let state: State = serde_json::from_str(&record(home.path())).unwrap();
        state.save(&path).unwrap();
        assert_eq!(State::load(&path).unwrap(), Some(state));
    }

    #[test]
    fn a_broken_record_is_an_error_that_names_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.json");
        fs::write(&path, r#"{"api_server": 7}"#).unwrap();
        let error = State::load(&path).unwrap_err().to_string();
        assert!(error.contains("state.json"), "{error}");
    }

    #[test]
    fn what_is_gone_is_not_running_and_its_directory_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let state: State = serde_json::from_str(&record(home.path())).unwrap();
        fs::create_dir(&state.dir).unwrap();
        assert!(!state.is_running().unwrap());
        state.stop(home.path()).unwrap();
        assert!(!state.dir.exists());
        state.stop(home.path()).unwrap();
    }

    #[test]
    fn a_directory_elsewhere_is_never_removed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let state: State = serde_json::from_str(&record(elsewhere.path())).unwrap();
        fs::create_dir(&state.dir).unwrap();
        assert!(state.stop(home.path()).is_err());
        assert!(state.dir.exists());
    }
}
