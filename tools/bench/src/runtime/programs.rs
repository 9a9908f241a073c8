//! The measured programs: client-go under generated code, plain kube-runtime, and our runtime.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use super::cluster::Cluster;
use crate::{cargo, files, go, kinds::Group, paths, program};

/// The Go program, which is built beside its generated client.
const GO: [(&str, &str); 4] = [
    ("main.go", include_str!("../../runtime/main.go")),
    ("load.go", include_str!("../../runtime/load.go")),
    ("sync.go", include_str!("../../runtime/sync.go")),
    ("micro.go", include_str!("../../runtime/micro.go")),
];

/// The measured runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Go,
    Kube,
    Ours,
    OursOnMimalloc,
}

/// The built programs.
pub(super) struct Programs {
    go: PathBuf,
    definitions: PathBuf,
}

impl Programs {
    /// Builds the programs; kube's separately, so that kube has its own features only.
    pub(super) fn build() -> Result<Programs> {
        eprintln!("building the programs");
        for args in [
            &["build", "--release", "--package", "bench-kube"][..],
            &["build", "--release", "--package", "bench", "--features", "compact,mimalloc", "--bins"],
        ] {
            program::output(&mut cargo::command(paths::workspace_root(), args))?;
        }
        let tools = go::build_tools()?;
        let module = go::Module::write(paths::home().join("go/runtime"), &Group::all(1, 1))?;
        for step in &go::STEPS {
            program::output(&mut tools.command(step, &module))?;
        }
        for (name, text) in GO {
            files::write(&module.directory().join("runtime").join(name), text)?;
        }
        program::output(&mut module.go(["build", "-o", "runtime-go", "./runtime"]))?;
        let (go, definitions) = (module.directory().join("runtime-go"), module.directory().join("config/crd/bases"));
        Ok(Programs { go, definitions })
    }

    /// Returns the directory with the CRD.
    pub(super) fn definitions(&self) -> &PathBuf {
        &self.definitions
    }

    /// Returns the command of a program on this cluster.
    pub(super) fn command(&self, peer: Peer, cluster: &Cluster) -> Command {
        let mut command = Command::new(match peer {
            Peer::Go => self.go.clone(),
            Peer::Kube => release_binary("bench-kube"),
            Peer::Ours => release_binary("runtime-ours"),
            Peer::OursOnMimalloc => release_binary("runtime-ours-mimalloc"),
        });
        command.env("KUBECONFIG", cluster.kubeconfig());
        command
    }

    /// Returns the command that measures the queue of a peer.
    pub(super) fn queue(&self, peer: Peer, cluster: &Cluster) -> Command {
        if peer == Peer::Ours {
            let mut command = Command::new(release_binary("queue-rates"));
            command.arg("5");
            return command;
        }
        let mut command = self.command(peer, cluster);
        command.arg("queue");
        command
    }
}

fn release_binary(name: &str) -> PathBuf {
    paths::target_dir().join("release").join(name)
}
