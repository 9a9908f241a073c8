//! The measured programs: the same operator on controller-runtime, on kube-runtime and on our manager.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result};

use crate::{cargo, files, go, paths, program};

const GO_MOD: &str = include_str!("../../operator/go.mod");

/// The package of the operator on kube-runtime.
pub(crate) const KUBE: &str = "bench-operator-kube";

/// The measured programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Go,
    Kube,
    Ours,
}

impl Peer {
    /// All programs in the order of the rounds and of the columns.
    pub(super) const ALL: [Peer; 3] = [Peer::Go, Peer::Kube, Peer::Ours];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Peer::Go => "controller-runtime",
            Peer::Kube => "kube-runtime",
            Peer::Ours => "ours",
        }
    }

    /// Returns whether the program collects its heap at SIGUSR1.
    pub(crate) fn has_garbage_collector(self) -> bool {
        self == Peer::Go
    }
}

/// Returns the versions of the compared modules.
pub(crate) fn versions() -> String {
    go::required(GO_MOD, &["sigs.k8s.io/controller-runtime", "k8s.io/client-go"])
}

/// Builds the operator on controller-runtime, as a static program without symbols, and returns its path.
pub(crate) fn build_go() -> Result<PathBuf> {
    let home = paths::home().join("operator");
    fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    let go = home.join("operator-go");
    let mut command = Command::new("go");
    command.args(["build", "-trimpath", "-ldflags", "-s -w", "-o"]).arg(&go).arg(".");
    command.env("CGO_ENABLED", "0").current_dir(paths::crate_dir().join("operator"));
    program::output(&mut command).context("cannot build the operator on controller-runtime")?;
    Ok(go)
}

/// The built programs.
pub(super) struct Programs {
    go: PathBuf,
}

impl Programs {
    /// Builds the programs, each separately, so that each has its own features only.
    pub(super) fn build() -> Result<Programs> {
        eprintln!("building the programs");
        for package in [KUBE, "bench-operator-ours"] {
            let args = ["build", "--release", "--package", package];
            program::output(&mut cargo::command(paths::workspace_root(), args))?;
        }
        Ok(Programs { go: build_go()? })
    }

    /// Returns the command of a program on the cluster of this kubeconfig.
    pub(super) fn command(&self, peer: Peer, kubeconfig: PathBuf, read_your_writes: bool) -> Command {
        let mut command = Command::new(self.path(peer));
        command.env("KUBECONFIG", kubeconfig);
        if peer == Peer::Go && read_your_writes {
            command.arg("--read-your-writes");
        }
        command
    }

    /// Returns the size of a program in megabytes of 10^6 bytes.
    pub(super) fn size(&self, peer: Peer) -> Result<f64> {
        files::size(&self.path(peer))
    }

    fn path(&self, peer: Peer) -> PathBuf {
        let release = |name| paths::target_dir().join("release").join(name);
        match peer {
            Peer::Go => self.go.clone(),
            Peer::Kube => release(KUBE),
            Peer::Ours => release("bench-operator-ours"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_go_mod() {
        let versions = versions();
        assert!(versions.contains("sigs.k8s.io/controller-runtime v0."), "{versions}");
        assert!(versions.contains("k8s.io/client-go v0."), "{versions}");
    }
}
