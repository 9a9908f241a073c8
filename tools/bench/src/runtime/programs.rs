//! The programs that are measured: client-go under generated code, plain kube-runtime, ours.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::cluster::Cluster;
use crate::{cargo, files, go, paths, program};

/// The Go program; it is put beside its client, which is generated.
const GO: [(&str, &str); 4] = [
    ("main.go", include_str!("../../runtime/main.go")),
    ("load.go", include_str!("../../runtime/load.go")),
    ("sync.go", include_str!("../../runtime/sync.go")),
    ("micro.go", include_str!("../../runtime/micro.go")),
];

/// Whose runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Go,
    Kube,
    Ours,
    OursOnMimalloc,
}

/// All of them, built.
pub(super) struct Programs {
    go: PathBuf,
    definitions: PathBuf,
}

impl Programs {
    /// Builds them; kube's by itself, so that it has the features it has without us.
    pub(super) fn build() -> Result<Programs> {
        eprintln!("building the programs");
        for args in [
            &["build", "--release", "--package", "bench-kube"][..],
            &["build", "--release", "--package", "bench", "--features", "mimalloc", "--bins"],
        ] {
            program::output(&mut cargo::command(paths::workspace_root(), args))?;
        }
        let tools = go::build_tools()?;
        let module = go::Module::write(paths::home().join("go/runtime"), 1)?;
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

    /// The directory of the kind's definition.
    pub(super) fn definitions(&self) -> &PathBuf {
        &self.definitions
    }

    /// A program, on this cluster.
    pub(super) fn command(&self, peer: Peer, cluster: &Cluster) -> Command {
        let mut command = Command::new(match peer {
            Peer::Go => self.go.clone(),
            Peer::Kube => built("bench-kube"),
            Peer::Ours => built("runtime-ours"),
            Peer::OursOnMimalloc => built("runtime-ours-mimalloc"),
        });
        command.env("KUBECONFIG", cluster.kubeconfig());
        command
    }

    /// The program that measures the peer's queue.
    pub(super) fn queue(&self, peer: Peer, cluster: &Cluster) -> Command {
        if peer == Peer::Ours {
            let mut command = Command::new(built("queue-rates"));
            command.arg("5");
            return command;
        }
        let mut command = self.command(peer, cluster);
        command.arg("queue");
        command
    }
}

fn built(name: &str) -> PathBuf {
    paths::target_dir().join("release").join(name)
}
