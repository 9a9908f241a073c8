//! The two servers on which suites run.

use std::{
    env,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use envtest::{Assets, ControlPlane};

use crate::{files, paths, sandbox::Sandbox};

/// The programs of this workspace under the names that envtest starts.
const OURS: [(&str, &str); 2] = [("envtest-etcd", "etcd"), ("envtest-kube-apiserver", "kube-apiserver")];

/// A server: the binaries that envtest starts.
pub(crate) struct Server {
    /// `ours` or `real`, in the names of files.
    pub(crate) name: &'static str,
    /// In messages.
    pub(crate) title: &'static str,
    pub(crate) assets: Assets,
}

impl Server {
    /// Returns the real server: etcd and kube-apiserver.
    pub(crate) fn real() -> Result<Server> {
        let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
        Ok(Server { name: "real", title: "the real server", assets })
    }

    /// Returns the in-memory API server, with the kubectl of the real one. Cargo has built its programs beside this
    /// one.
    pub(crate) fn ours(real: &Server) -> Result<Server> {
        let this = env::current_exe().and_then(|path| path.canonicalize()).context("cannot find this program")?;
        let directory = paths::home()?.join("assets");
        files::recreate_directory(&directory)?;
        let programs = OURS.map(|(program, name)| (this.with_file_name(program), name));
        for (program, name) in programs.into_iter().chain([(real.assets.kubectl(), "kubectl")]) {
            link(&program, &directory.join(name))?;
        }
        let server = this.with_file_name("kubewright-apiserver");
        ensure!(server.is_file(), "{} is missing; run `cargo xtask suites`, which builds it", server.display());
        Ok(Server { name: "ours", title: "the in-memory server", assets: Assets::in_dir(&directory)? })
    }

    /// Starts the server, for suites that use a kubeconfig.
    pub(crate) fn start(&self) -> Result<ControlPlane> {
        Ok(ControlPlane::start(&self.assets)?)
    }

    /// Returns a program in the sandbox that finds the binaries of the server as envtest does.
    pub(crate) fn command(&self, sandbox: &Sandbox, program: impl Into<PathBuf>) -> Command {
        let mut command = sandbox.command(program.into());
        command.env("KUBEBUILDER_ASSETS", self.assets.dir());
        command
    }
}

fn link(program: &Path, link: &Path) -> Result<()> {
    ensure!(program.is_file(), "{} is missing; run `cargo xtask suites`, which builds it", program.display());
    symlink(program, link).with_context(|| format!("cannot create {}", link.display()))
}
