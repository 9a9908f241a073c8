//! The API server of the benchmark and its objects.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use envtest::ControlPlane;

use super::programs::{Peer, Programs};
use crate::{files, paths, program};

/// A cluster: a started one, which stops when this is dropped, or an existing one.
pub(super) enum Cluster {
    Started(Box<ControlPlane>),
    Existing(PathBuf),
}

impl Cluster {
    /// Returns the cluster of this kubeconfig, or starts one with its data in the target directory.
    pub(super) fn get(kubeconfig: Option<&Path>) -> Result<Cluster> {
        if let Some(file) = kubeconfig {
            let file = file.canonicalize().with_context(|| format!("no kubeconfig {}", file.display()))?;
            return Ok(Cluster::Existing(file));
        }
        let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
        eprintln!("starting etcd and kube-apiserver");
        let parent = home();
        std::fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
        Ok(Cluster::Started(Box::new(ControlPlane::start_in(&assets, &parent)?)))
    }

    /// Returns the administrator's kubeconfig.
    pub(super) fn kubeconfig(&self) -> &Path {
        match self {
            Cluster::Started(plane) => plane.kubeconfig(),
            Cluster::Existing(file) => file,
        }
    }

    /// Creates missing Loggers up to this number.
    pub(super) fn load(&self, programs: &Programs, objects: usize) -> Result<()> {
        eprintln!("loading {objects} Loggers; this takes minutes the first time");
        program::output(self.kubectl()?.args(["apply", "-f"]).arg(programs.definitions()))?;
        program::output(self.kubectl()?.args(["wait", "--for=condition=Established", "crd", "--all"]))?;
        program::output(programs.command(Peer::Go, self).args(["load", &objects.to_string()]))?;
        let (object, page) = texts();
        files::write(&object, &self.raw("/apis/example.com/v1/namespaces/bench-007/loggers/logger-000007")?)?;
        files::write(&page, &self.raw("/apis/example.com/v1/loggers?limit=500")?)
    }

    /// Returns files with one object and one page of 500 as the server sends them.
    pub(super) fn texts(&self) -> Result<(PathBuf, PathBuf)> {
        let (object, page) = texts();
        files::read(&object).map(|_| (object, page))
    }

    fn raw(&self, path: &str) -> Result<String> {
        program::output(self.kubectl()?.args(["get", "--raw", path]))
    }

    fn kubectl(&self) -> Result<Command> {
        match self {
            Cluster::Started(plane) => Ok(plane.kubectl()),
            Cluster::Existing(file) => {
                let assets = envtest::find()?.with_context(|| format!("no kubectl; {}", envtest::HOW_TO_GET))?;
                let mut command = Command::new(assets.dir().join("kubectl"));
                command.arg("--kubeconfig").arg(file);
                Ok(command)
            }
        }
    }
}

fn home() -> PathBuf {
    paths::home().join("runtime")
}

fn texts() -> (PathBuf, PathBuf) {
    (home().join("object.json"), home().join("page.json"))
}
