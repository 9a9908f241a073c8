//! The compared servers, and how each is started and stopped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use envtest::ControlPlane;
use tempfile::TempDir;

use crate::{cargo, paths, program};

/// How long a server may take to listen, and the interval between checks.
const TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_micros(200);

/// The compared servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Server {
    /// etcd and kube-apiserver.
    Real,
    /// The API server in memory as a separate program, without TLS, authentication and authorization.
    OnSocket,
    /// The same with TLS, client certificates and RBAC.
    Secured,
    /// The API server in memory in the process of the load program.
    InProcess,
}

/// A server that is ready. Dropping it stops the server.
pub(crate) struct Running {
    /// The time to the first response, unless the load program measures it.
    pub(crate) start: Option<Duration>,
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
            // It has no persistent state.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// All servers in the order of the rounds.
    pub(crate) const ALL: [Server; 4] = [Server::Real, Server::OnSocket, Server::Secured, Server::InProcess];

    /// Returns the real server if it is built. Otherwise compiles ours as a program and returns it.
    pub(crate) fn available() -> Result<Server> {
        if envtest::find()?.is_some() {
            return Ok(Server::Real);
        }
        let args = "build --release --package kubewright-apiserver --features program --bin kubewright-apiserver";
        program::output(&mut cargo::command(paths::workspace_root(), args.split(' ')))?;
        Ok(Server::OnSocket)
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Server::Real => "etcd and kube-apiserver",
            Server::OnSocket => "ours on a socket",
            Server::Secured => "ours with TLS and RBAC",
            Server::InProcess => "ours in process",
        }
    }

    /// Starts the server, unless the load program does.
    pub(crate) fn start(self) -> Result<Running> {
        match self {
            Server::Real => real(),
            Server::OnSocket => on_socket(&["--insecure"]),
            Server::Secured => on_socket(&["--authorization-mode", "RBAC"]),
            Server::InProcess => {
                Ok(Running { start: None, kubeconfig: None, pids: Vec::new(), _process: None, _directory: None })
            }
        }
    }
}

impl Running {
    /// Returns the kubeconfig, unless the server is in the process of the load program.
    pub(crate) fn kubeconfig(&self) -> Option<&Path> {
        self.kubeconfig.as_deref()
    }

    /// Returns the command of a program that loads this server.
    pub(crate) fn command(&self, program: &Path) -> Command {
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
    fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let start = Instant::now();
    // Returns after the first response of the server.
    let plane = ControlPlane::start_in(&assets, &parent)?;
    let taken = start.elapsed();
    let pids = children();
    ensure!(pids.len() == 2, "expected etcd and kube-apiserver as the only children: {pids:?}");
    Ok(Running {
        start: Some(taken),
        kubeconfig: Some(plane.kubeconfig().to_owned()),
        pids,
        _process: Some(Process::ControlPlane { _plane: Box::new(plane) }),
        _directory: None,
    })
}

/// Starts the program with these options.
fn on_socket(options: &[&str]) -> Result<Running> {
    let directory = TempDir::new()?;
    let kubeconfig = directory.path().join("kubeconfig");
    let start = Instant::now();
    let child = Command::new(paths::target_dir().join("release/kubewright-apiserver"))
        .args(options)
        .args(["--port", "0", "--write-kubeconfig"])
        .arg(&kubeconfig)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start kubewright-apiserver")?;
    let pids = vec![child.id().to_string()];
    let process = Process::Ours(child);
    // The server writes the file when it listens.
    while !fs::read_to_string(&kubeconfig).is_ok_and(|text| text.ends_with('\n') || text.contains("current-context")) {
        ensure!(start.elapsed() < TIMEOUT, "kubewright-apiserver does not listen within {} s", TIMEOUT.as_secs());
        thread::sleep(POLL);
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

/// Returns the running child processes on Linux.
fn children() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    children.flat_map(|pids| pids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
