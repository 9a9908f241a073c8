//! A running control plane: etcd and kube-apiserver on the loopback interface, in a directory of their own.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Error, Result};
use tempfile::TempDir;

use crate::assets::Assets;
use crate::credentials::Credentials;
use crate::process::{Ended, Process};
use crate::readiness::Wait;
use crate::servers::{self, Ports};
use crate::state::State;

/// How often a start is tried when another program takes a port meanwhile.
const TRIES: usize = 3;

/// A running control plane. Dropping it stops it and removes its directory.
pub struct ControlPlane {
    // Dropped in this order: while etcd is gone an API server retries for a minute, and holds its port.
    api_server: Process,
    etcd: Process,
    dir: TempDir,
    kubeconfig: PathBuf,
    etcd_address: SocketAddr,
    assets: Assets,
}

impl ControlPlane {
    /// Starts one on free ports, in a temporary directory, and waits until it serves, for at most a minute.
    ///
    /// The servers stay in the caller's process group, so that Ctrl-C at a terminal reaches them too.
    pub fn start(assets: &Assets) -> Result<ControlPlane> {
        Self::launch(assets, &std::env::temp_dir(), &[])
    }

    /// The same, in a directory of its own in this one, which has room for many objects.
    pub fn start_in(assets: &Assets, parent: &Path) -> Result<ControlPlane> {
        Self::launch(assets, parent, &[])
    }

    /// The same, with more flags for kube-apiserver, such as `--watch-cache=false`. They win over ours.
    pub fn start_with(assets: &Assets, flags: &[&str]) -> Result<ControlPlane> {
        Self::launch(assets, &std::env::temp_dir(), flags)
    }

    fn launch(assets: &Assets, parent: &Path, flags: &[&str]) -> Result<ControlPlane> {
        let never = AtomicBool::new(false);
        let launch = Launch { assets, flags, parent, detached: false, cancelled: &never };
        launch.run(Ports::free)
    }

    /// Where etcd serves its clients, in plain HTTP: by gRPC, and by JSON under `/v3`.
    pub fn etcd(&self) -> SocketAddr {
        self.etcd_address
    }

    /// The admin's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// kubectl as the admin, with its caches in the control plane's own directory.
    pub fn kubectl(&self) -> Command {
        kubectl(&self.assets, &self.kubeconfig, self.dir.path())
    }

    /// Stops it, as dropping does, but tells what goes wrong.
    pub fn stop(self) -> Result<()> {
        let ControlPlane { mut api_server, mut etcd, dir, .. } = self;
        api_server.stop()?;
        etcd.stop()?;
        dir.close().context("cannot remove the control plane's directory")
    }

    /// What another process needs to use it and to stop it.
    pub(crate) fn state(&self) -> Result<State> {
        Ok(State {
            api_server: self.api_server.identity()?,
            etcd: self.etcd.identity()?,
            kubeconfig: self.kubeconfig.clone(),
            dir: self.dir.path().to_owned(),
            assets: self.assets.dir().to_owned(),
        })
    }

    /// Lets it outlive this process.
    pub(crate) fn leave_running(self) {
        let ControlPlane { api_server, etcd, dir, .. } = self;
        api_server.leave_running();
        etcd.leave_running();
        let _kept = dir.keep();
    }
}

/// How a control plane is to be started.
pub(crate) struct Launch<'a> {
    pub(crate) assets: &'a Assets,
    /// More flags for kube-apiserver.
    pub(crate) flags: &'a [&'a str],
    /// Where its directory is made.
    pub(crate) parent: &'a Path,
    /// Whether the servers get process groups of their own, so that a signal to the caller's does not reach them.
    pub(crate) detached: bool,
    /// Set by whoever wants the start called off.
    pub(crate) cancelled: &'a AtomicBool,
}

impl Launch<'_> {
    /// Starts it on the ports that are picked, and on others when another program takes one meanwhile.
    pub(crate) fn run(&self, mut pick: impl FnMut() -> Result<Ports>) -> Result<ControlPlane> {
        let mut tries = 1;
        loop {
            match self.attempt(pick()?) {
                Err(error) if tries < TRIES && port_was_taken(&error) => tries += 1,
                outcome => return outcome.context("cannot start the control plane"),
            }
        }
    }

    fn attempt(&self, ports: Ports) -> Result<ControlPlane> {
        // Declared in the order of their start: on failure they are dropped in the reverse one.
        let dir = self.make_dir()?;
        let credentials = Credentials::create(dir.path())?;
        let kubeconfig = credentials.write_kubeconfig(dir.path().join("kubeconfig"), ports.api_server)?;
        let wait = Wait::start(self.cancelled);

        let mut etcd = self.spawn("etcd", servers::etcd(self.assets, dir.path(), ports), dir.path())?;
        wait.for_port(ports.etcd_client, &mut etcd)?;

        let mut command = servers::kube_apiserver(self.assets, dir.path(), ports, &credentials);
        command.args(self.flags);
        let mut api_server = self.spawn("kube-apiserver", command, dir.path())?;
        let kubectl = || kubectl(self.assets, &kubeconfig, dir.path());
        wait.for_api(ports.api_server, kubectl, &mut [&mut etcd, &mut api_server])?;
        etcd.serves();
        api_server.serves();

        let etcd_address = servers::loopback(ports.etcd_client);
        Ok(ControlPlane { api_server, etcd, dir, kubeconfig, etcd_address, assets: self.assets.clone() })
    }

    fn make_dir(&self) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix("control-plane-")
            .tempdir_in(self.parent)
            .with_context(|| format!("cannot make a directory in {}", self.parent.display()))
    }

    fn spawn(&self, name: &'static str, mut command: Command, dir: &Path) -> Result<Process> {
        if self.detached {
            command.process_group(0);
        }
        Process::spawn(name, command, dir)
    }
}

fn kubectl(assets: &Assets, kubeconfig: &Path, home: &Path) -> Command {
    let mut command = Command::new(assets.kubectl());
    command.arg("--kubeconfig").arg(kubeconfig).env_remove("KUBECONFIG").env("HOME", home);
    command
}

fn port_was_taken(error: &Error) -> bool {
    error.downcast_ref::<Ended>().is_some_and(Ended::port_was_taken)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;

    use super::*;
    use crate::find_or_skip;

    /// Ports one of which is taken, and what takes it.
    fn taken() -> (TcpListener, Ports) {
        let listener = TcpListener::bind(servers::loopback(0)).unwrap();
        let etcd_client = listener.local_addr().unwrap().port();
        (listener, Ports { etcd_client, ..Ports::free().unwrap() })
    }

    #[test]
    fn a_port_that_stays_taken_is_an_error_with_the_log_and_leaves_nothing() {
        let Some(assets) = find_or_skip("taken port").unwrap() else {
            return;
        };
        let parent = tempfile::tempdir().unwrap();
        let (_listener, ports) = taken();
        let never = AtomicBool::new(false);
        let launch = Launch { assets: &assets, flags: &[], parent: parent.path(), detached: false, cancelled: &never };
        let mut picks = 0;
        let outcome = launch.run(|| {
            picks += 1;
            Ok(ports)
        });
        let error = format!("{:#}", outcome.err().unwrap());
        assert!(error.contains("etcd ended") && error.contains("address already in use"), "{error}");
        assert_eq!(picks, TRIES);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_taken_port_is_exchanged_for_another() {
        let Some(assets) = find_or_skip("exchanged port").unwrap() else {
            return;
        };
        let parent = tempfile::tempdir().unwrap();
        let (_listener, ports) = taken();
        let never = AtomicBool::new(false);
        let launch = Launch { assets: &assets, flags: &[], parent: parent.path(), detached: false, cancelled: &never };
        let mut picks = [Ok(ports), Ports::free()].into_iter();
        launch.run(|| picks.next().unwrap()).unwrap().stop().unwrap();
    }

    #[test]
    fn a_start_that_is_called_off_leaves_nothing() {
        let Some(assets) = find_or_skip("called off start").unwrap() else {
            return;
        };
        let parent = tempfile::tempdir().unwrap();
        let cancelled = AtomicBool::new(true);
        let launch =
            Launch { assets: &assets, flags: &[], parent: parent.path(), detached: true, cancelled: &cancelled };
        let error = format!("{:#}", launch.run(Ports::free).err().unwrap());
        assert!(error.ends_with("interrupted"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
