//! The servers that are loaded, and how each is started and stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use envtest::ControlPlane;
use tempfile::TempDir;

use crate::paths;

/// How long a server may take to listen, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_micros(200);

/// One of those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Server {
    /// etcd and kube-apiserver.
    Real,
    /// Ours as a program of its own.
    OnSocket,
    /// Ours in the program that loads it.
    InProcess,
}

/// A server that is ready to be loaded; dropped, it stops.
pub(super) struct Running {
    /// How long it took to give its first answer, unless the load measures that itself.
    pub(super) start: Option<Duration>,
    kubeconfig: Option<PathBuf>,
    pids: Vec<String>,
    _process: Option<Process>,
    _directory: Option<TempDir>,
}

enum Process {
    ControlPlane { _plane: Box<ControlPlane> },
    Ours(Child),
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Self::Ours(child) = self {
            // It keeps nothing that an end could spoil.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// In the order in which they take turns.
    pub(super) const ALL: [Server; 3] = [Server::Real, Server::OnSocket, Server::InProcess];

    pub(super) fn title(self) -> &'static str {
        match self {
            Server::Real => "etcd and kube-apiserver",
            Server::OnSocket => "ours on a socket",
            Server::InProcess => "ours in process",
        }
    }

    /// Starts it, if it is not started by the load.
    pub(super) fn start(self) -> Result<Running> {
        match self {
            Server::Real => real(),
            Server::OnSocket => on_socket(),
            Server::InProcess => {
                Ok(Running { start: None, kubeconfig: None, pids: Vec::new(), _process: None, _directory: None })
            }
        }
    }
}

impl Running {
    /// A program that loads this server.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_remove("KUBECONFIG").env_remove("PIDS");
        if let Some(kubeconfig) = &self.kubeconfig {
            command.env("KUBECONFIG", kubeconfig).env("PIDS", self.pids.join(" "));
        }
        command
    }
}

fn real() -> Result<Running> {
    let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
    let parent = paths::home().join("apiserver");
    fs::create_dir_all(&parent).with_context(|| format!("cannot make {}", parent.display()))?;
    let start = Instant::now();
    // It returns when the server has answered.
    let plane = ControlPlane::start_in(&assets, &parent)?;
    let taken = start.elapsed();
    let pids = children();
    ensure!(pids.len() == 2, "etcd and kube-apiserver should be the only children, not {pids:?}");
    Ok(Running {
        start: Some(taken),
        kubeconfig: Some(plane.kubeconfig().to_owned()),
        pids,
        _process: Some(Process::ControlPlane { _plane: Box::new(plane) }),
        _directory: None,
    })
}

fn on_socket() -> Result<Running> {
    let directory = TempDir::new()?;
    let kubeconfig = directory.path().join("kubeconfig");
    let start = Instant::now();
    let child = Command::new(paths::target_dir().join("release/logger-apiserver"))
        .args(["--port", "0", "--write-kubeconfig"])
        .arg(&kubeconfig)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start logger-apiserver")?;
    let pids = vec![child.id().to_string()];
    let process = Process::Ours(child);
    // It is written once the server listens.
    while !fs::read_to_string(&kubeconfig).is_ok_and(|text| text.ends_with('\n') || text.contains("current-context")) {
        ensure!(start.elapsed() < PATIENCE, "logger-apiserver does not listen");
        thread::sleep(PAUSE);
    }
    let taken = start.elapsed();
    Ok(Running {
        start: Some(taken),
        kubeconfig: Some(kubeconfig),
        pids,
        _process: Some(process),
        _directory: Some(directory),
    })
}

/// The processes that this one started and that still run, as Linux tells.
fn children() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    children.flat_map(|pids| pids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
