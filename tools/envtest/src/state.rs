//! The record of a control plane that runs in the background.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use kubewright_envtest::{ControlPlane, internals::Identity};

/// The processes and the files of a control plane.
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
    /// Returns the record of a control plane.
    pub(crate) fn from_control_plane(control_plane: &ControlPlane) -> Result<State> {
        let [api_server, etcd] = control_plane.identities()?;
        let (kubeconfig, dir) = (control_plane.kubeconfig().to_owned(), control_plane.dir().to_owned());
        Ok(State { api_server, etcd, kubeconfig, dir, assets: control_plane.assets().dir().to_owned() })
    }

    /// Returns the path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the directory of its binaries.
    pub fn assets(&self) -> &Path {
        &self.assets
    }

    /// Reads the record; `None` if there is none.
    pub(crate) fn load(path: &Path) -> Result<Option<State>> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("cannot read {}; end the processes it names, then remove it", path.display()))
                .map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes the record atomically.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let partial = path.with_extension("partial");
        fs::write(&partial, serde_json::to_vec_pretty(self)?)
            .and_then(|()| fs::rename(&partial, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reports whether all processes run.
    pub(crate) fn is_running(&self) -> Result<bool> {
        Ok(self.api_server.is_running()? && self.etcd.is_running()?)
    }

    /// Stops the processes that run, the API server first, and removes the directory, which must be in `home`.
    pub(crate) fn stop(&self, home: &Path) -> Result<()> {
        self.api_server.stop().context("cannot stop kube-apiserver")?;
        self.etcd.stop().context("cannot stop etcd")?;
        // The path comes from a file, which must not be able to name an arbitrary directory.
        ensure!(
            self.dir.parent() == Some(home),
            "{} is not removed because it is not in {}",
            self.dir.display(),
            home.display()
        );
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
    fn a_record_round_trips() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.json");
        assert_eq!(State::load(&path).unwrap(), None);
        let state: State = serde_json::from_str(&record(home.path())).unwrap();
        state.save(&path).unwrap();
        assert_eq!(State::load(&path).unwrap(), Some(state));
    }

    #[test]
    fn a_malformed_record_is_an_error_that_names_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.json");
        fs::write(&path, r#"{"api_server": 7}"#).unwrap();
        let error = State::load(&path).unwrap_err().to_string();
        assert!(error.contains("state.json"), "{error}");
    }

    #[test]
    fn stopping_ended_processes_removes_their_directory() {
        let home = tempfile::tempdir().unwrap();
        let state: State = serde_json::from_str(&record(home.path())).unwrap();
        fs::create_dir(&state.dir).unwrap();
        assert!(!state.is_running().unwrap());
        state.stop(home.path()).unwrap();
        assert!(!state.dir.exists());
        state.stop(home.path()).unwrap();
    }

    #[test]
    fn a_directory_outside_of_home_is_never_removed() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let state: State = serde_json::from_str(&record(elsewhere.path())).unwrap();
        fs::create_dir(&state.dir).unwrap();
        assert!(state.stop(home.path()).is_err());
        assert!(state.dir.exists());
    }
}
