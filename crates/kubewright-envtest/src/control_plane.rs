//! A running control plane: etcd and kube-apiserver on the loopback interface, in a dedicated directory.

use std::{
    io,
    net::SocketAddr,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
};

use tempfile::TempDir;

use crate::{
    assets::Assets,
    credentials::Credentials,
    error::{Error, Result},
    identity::Identity,
    process::Process,
    readiness::Wait,
    servers::{self, Ports},
};

/// The number of attempts to start if another program takes a port.
pub const START_ATTEMPTS: usize = 3;

/// The paths that the API server must serve, in this order: a controller creates the namespace after the server is
/// ready.
const REQUIRED_PATHS: [&str; 2] = ["/readyz", "/api/v1/namespaces/default"];

/// A running control plane. Dropping it stops it and removes its directory.
pub struct ControlPlane {
    // Dropped in this order: without etcd an API server retries for a minute and keeps its port.
    api_server: Process,
    etcd: Process,
    dir: TempDir,
    kubeconfig: PathBuf,
    ports: Ports,
    assets: Assets,
    credentials: Credentials,
    /// The additional flags of kube-apiserver.
    flags: Vec<String>,
}

impl ControlPlane {
    /// Starts a control plane on free ports in a temporary directory, and waits at most a minute until it is ready.
    ///
    /// The servers run in the process group of the caller, so that Ctrl-C at a terminal reaches them too.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or a server cannot be run, ends, or is not ready in time.
    pub fn start(assets: &Assets) -> Result<ControlPlane> {
        Self::launch(assets, &std::env::temp_dir(), &[])
    }

    /// Starts a control plane as [`start`](Self::start) does, in a new directory in `parent`, which has room for many
    /// objects.
    ///
    /// # Errors
    /// Fails as [`start`](Self::start) does.
    pub fn start_in(assets: &Assets, parent: &Path) -> Result<ControlPlane> {
        Self::launch(assets, parent, &[])
    }

    /// Starts a control plane as [`start`](Self::start) does, with additional flags for kube-apiserver, such as
    /// `--watch-cache=false`. They take precedence over the default flags.
    ///
    /// # Errors
    /// Fails as [`start`](Self::start) does.
    pub fn start_with(assets: &Assets, flags: &[&str]) -> Result<ControlPlane> {
        Self::launch(assets, &std::env::temp_dir(), flags)
    }

    /// Starts a control plane as [`start_in`](Self::start_in) does, with additional flags for kube-apiserver as in
    /// [`start_with`](Self::start_with).
    ///
    /// # Errors
    /// Fails as [`start`](Self::start) does.
    pub fn start_in_with(assets: &Assets, parent: &Path, flags: &[&str]) -> Result<ControlPlane> {
        Self::launch(assets, parent, flags)
    }

    fn launch(assets: &Assets, parent: &Path, flags: &[&str]) -> Result<ControlPlane> {
        let never = AtomicBool::new(false);
        let launch = Launch { assets, flags, parent, detached: false, cancelled: &never };
        launch.run(Ports::free)
    }

    /// Returns the address of etcd for clients: plain HTTP with gRPC, and JSON below `/v3`.
    pub fn etcd(&self) -> SocketAddr {
        servers::loopback(self.ports.etcd_client)
    }

    /// Returns the path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns a kubectl command as the administrator, with its caches in the directory of the control plane.
    pub fn kubectl(&self) -> Command {
        kubectl(&self.assets, &self.kubeconfig, self.dir.path())
    }

    /// Stops the API server and starts it again on its port, with the objects in etcd. Waits at most a minute until it
    /// is ready.
    ///
    /// # Errors
    /// Fails if the API server cannot be stopped, a server ends, or the API server is not ready in time.
    pub fn restart_api_server(&mut self) -> Result<()> {
        self.api_server.stop()?;
        let (dir, never) = (self.dir.path(), AtomicBool::new(false));
        let mut command = servers::kube_apiserver(&self.assets, dir, self.ports, &self.credentials);
        command.args(&self.flags);
        let wait = Wait::start(&never);
        // The stopped one is replaced at once, so that a failed start is stopped on drop.
        self.api_server = Process::spawn("kube-apiserver", command, dir)?;
        let kubectl = || kubectl(&self.assets, &self.kubeconfig, dir);
        let servers = &mut [&mut self.etcd, &mut self.api_server];
        wait.for_paths(self.ports.api_server, kubectl, &REQUIRED_PATHS, servers)?;
        self.api_server.mark_ready();
        Ok(())
    }

    /// Stops the control plane as dropping does, and returns errors.
    ///
    /// # Errors
    /// Fails if a server cannot be stopped or the directory cannot be removed.
    pub fn stop(self) -> Result<()> {
        let ControlPlane { mut api_server, mut etcd, dir, .. } = self;
        api_server.stop()?;
        etcd.stop()?;
        dir.close().map_err(|error| Error::from_io("cannot remove the control plane's directory", error))
    }

    /// Returns the directory of all files of the control plane.
    #[doc(hidden)]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    #[doc(hidden)]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns the end of the log of the API server.
    #[doc(hidden)]
    pub fn log_tail(&self) -> String {
        self.api_server.log_tail()
    }

    /// Returns the binaries.
    #[doc(hidden)]
    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// Returns the identities of kube-apiserver and etcd, with which another process can stop them.
    #[doc(hidden)]
    pub fn identities(&self) -> io::Result<[Identity; 2]> {
        Ok([self.api_server.identity()?, self.etcd.identity()?])
    }

    /// Leaves the control plane running when this process ends.
    #[doc(hidden)]
    pub fn leave_running(self) {
        let ControlPlane { api_server, etcd, dir, .. } = self;
        api_server.leave_running();
        etcd.leave_running();
        let _path = dir.keep();
    }
}

/// The options of a start.
pub struct Launch<'a> {
    /// The binaries.
    pub assets: &'a Assets,
    /// Additional flags for kube-apiserver.
    pub flags: &'a [&'a str],
    /// The parent of the directory.
    pub parent: &'a Path,
    /// Whether the servers get separate process groups, so that signals to the caller's group do not reach them.
    pub detached: bool,
    /// Cancels the start when set.
    pub cancelled: &'a AtomicBool,
}

impl Launch<'_> {
    /// Starts a control plane on the ports that `pick_ports` returns, and again if another program takes one.
    pub fn run(&self, mut pick_ports: impl FnMut() -> Result<Ports>) -> Result<ControlPlane> {
        retry_taken_ports(|| self.attempt(pick_ports()?)).map_err(|error| Error::Start(Box::new(error)))
    }

    fn attempt(&self, ports: Ports) -> Result<ControlPlane> {
        // Declared in start order, so that a failure drops them in reverse order.
        let dir = self.create_dir()?;
        let credentials = Credentials::create(dir.path())?;
        let kubeconfig = credentials.write_kubeconfig(dir.path().join("kubeconfig"), ports.api_server)?;
        let wait = Wait::start(self.cancelled);

        let mut etcd = self.spawn("etcd", servers::etcd(self.assets, dir.path(), ports), dir.path())?;
        wait.for_port(ports.etcd_client, &mut etcd)?;

        let mut command = servers::kube_apiserver(self.assets, dir.path(), ports, &credentials);
        command.args(self.flags);
        let mut api_server = self.spawn("kube-apiserver", command, dir.path())?;
        let kubectl = || kubectl(self.assets, &kubeconfig, dir.path());
        wait.for_paths(ports.api_server, kubectl, &REQUIRED_PATHS, &mut [&mut etcd, &mut api_server])?;
        etcd.mark_ready();
        api_server.mark_ready();

        let (assets, flags) = (self.assets.clone(), self.flags.iter().map(|flag| (*flag).to_owned()).collect());
        Ok(ControlPlane { api_server, etcd, dir, kubeconfig, ports, assets, credentials, flags })
    }

    fn create_dir(&self) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix("control-plane-")
            .tempdir_in(self.parent)
            .map_err(|error| Error::from_io(format!("cannot create a directory in {}", self.parent.display()), error))
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

/// Starts servers, and starts them again if another program takes a port.
pub fn retry_taken_ports<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut attempts = 1;
    loop {
        match attempt() {
            Err(error) if attempts < START_ATTEMPTS && error.port_was_taken() => attempts += 1,
            outcome => return outcome,
        }
    }
}
