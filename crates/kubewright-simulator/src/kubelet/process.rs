//! Containers as local processes, with a directory for the logs and volumes of each pod.

mod environment;
mod network;
mod volumes;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    net::Ipv4Addr,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
};

use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::{
    lifecycle::{Exit, Start},
    logs::LogFiles,
};
use network::Network;
use volumes::Mounts;

/// The maximum size of the end of a log in a termination message, as in Kubernetes.
const LOG_TAIL_BYTES: u64 = 2048;
/// The maximum number of its lines.
const LOG_TAIL_LINES: usize = 80;

/// Runs containers as processes on this machine.
///
/// Guarantees:
/// - a container with a command runs that command. Otherwise its image must be the name of a [program](Self::program),
///   or it cannot be pulled;
/// - each pod has a loopback address, which `status.podIP` contains, so that pods can have the same ports. It replaces
///   `0.0.0.0` in command, arguments and environment, as processes have no network namespace. Two clusters on one
///   machine have different addresses. Systems other than Linux have no such addresses;
/// - the environment has the variables of the container, and `PATH`, `HOME` and `HOSTNAME`, but no others of this
///   process;
/// - a process gets SIGTERM when its pod is deleted, and is killed after the grace period, with all processes of its
///   group;
/// - standard output and error are written to `NODE/pods/NAMESPACE_NAME_UID/CONTAINER/RESTARTS.log` in the directory.
///   The kubelet serves them on a loopback address, which the status of its Node declares. After an error, their end is
///   the termination message with the policy `FallbackToLogsOnError`;
/// - `emptyDir` volumes are directories of the pod, `hostPath` volumes are directories below `NODE/host`, and claims
///   are directories below `claims`. Paths of mounts in command, arguments and environment are replaced by these
///   directories, as processes have no mount namespace. Other volumes are empty directories;
/// - the directory of a pod is removed when the pod is deleted; `host` and `claims` remain;
/// - processes are killed when the cluster stops.
#[derive(Clone, Debug)]
pub struct Processes {
    directory: PathBuf,
    programs: BTreeMap<String, Vec<String>>,
    network: Arc<Network>,
}

/// The reason why a container was not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProcessError {
    #[error("cannot create the directories of the pod: {0}")]
    Directory(#[source] io::Error),
    #[error("environment variable {name:?}: {reason}")]
    Variable { name: String, reason: String },
    #[error("cannot run {program:?}: {source}")]
    Spawn {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("the container has no command; use `command`, or register its image as a program")]
    NoCommand,
}

impl Processes {
    /// Creates a runtime that stores logs and volumes in this directory, which is created if it does not exist.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Processes { directory: directory.into(), programs: BTreeMap::new(), network: Arc::new(Network::reserve()) }
    }

    /// Registers the program that containers of this image run, with its first arguments.
    #[must_use]
    pub fn program<A: Into<String>>(mut self, image: impl Into<String>, command: impl IntoIterator<Item = A>) -> Self {
        self.programs.insert(image.into(), command.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the address of the n-th pod of a node.
    pub(super) fn pod_ip(&self, node: u32, number: u32) -> Ipv4Addr {
        self.network.address(node, number)
    }

    pub(super) fn has_image(&self, container: &Container) -> bool {
        let has_command = container.command.as_ref().is_some_and(|command| !command.is_empty());
        has_command || self.programs.contains_key(container.image.as_deref().unwrap_or_default())
    }

    fn pod_directory(&self, node: &str, pod: &Pod) -> PathBuf {
        let (namespace, uid) = (pod.namespace().unwrap_or_default(), pod.uid().unwrap_or_default());
        self.directory.join(node).join("pods").join(format!("{namespace}_{}_{uid}", pod.name_any()))
    }

    /// Returns the logs of a container.
    pub(super) fn logs(&self, node: &str, pod: &Pod, container: &str) -> LogFiles {
        LogFiles::new(self.pod_directory(node, pod).join(container))
    }

    pub(super) fn remove(&self, node: &str, pod: &Pod) {
        let directory = self.pod_directory(node, pod);
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, directory = %directory.display(), "cannot remove the directory of a pod");
            }
            _ => {}
        }
    }

    /// Starts the process of a container.
    pub(super) fn start(&self, start: &Start<'_>) -> Result<ProcessContainer, ProcessError> {
        let directory = self.pod_directory(start.node, start.pod);
        let mounts = Mounts::create(&self.directory, &directory, start).map_err(ProcessError::Directory)?;
        let variables = environment::variables(start, &mounts)?;
        let command = self.command(start.container, &variables, &mounts);
        let logs = directory.join(&start.container.name);
        fs::create_dir_all(&logs).map_err(ProcessError::Directory)?;
        let path = LogFiles::new(&logs).path(u32::try_from(start.restarts).unwrap_or_default());
        let log = File::create(&path).map_err(ProcessError::Directory)?;
        let working_directory = start.container.working_dir.as_deref().filter(|path| !path.is_empty());
        let working_directory = working_directory.map_or(logs, |path| PathBuf::from(mounts.replace(path)));
        let prober = ProcessProber { variables, mounts, directory: working_directory };
        let mut process = prober.command(&command)?;
        let errors = log.try_clone().map_err(ProcessError::Directory)?;
        process.stdin(Stdio::null()).stdout(log).stderr(errors);
        let spawned = process.spawn();
        let child = spawned.map_err(|source| ProcessError::Spawn { program: command.join(" "), source })?;
        Ok(ProcessContainer { group: Group::new(&child), child, log: path, prober: Arc::new(prober), ended: None })
    }

    fn command(&self, container: &Container, variables: &[(String, String)], mounts: &Mounts) -> Vec<String> {
        let resolve = |text: &String| mounts.replace(&environment::expand(text, variables));
        let program = match container.command.as_ref().filter(|command| !command.is_empty()) {
            Some(command) => command.iter().map(resolve).collect(),
            None => {
                let image = container.image.as_deref().unwrap_or_default();
                self.programs.get(image).cloned().unwrap_or_default()
            }
        };
        program.into_iter().chain(container.args.iter().flatten().map(resolve)).collect()
    }
}

/// A running process. It is killed on drop, with all processes of its group.
pub(super) struct ProcessContainer {
    /// Dropped before the process, while that reserves the identifier. Empty once the process has ended.
    group: Group,
    child: Child,
    log: PathBuf,
    prober: Arc<ProcessProber>,
    ended: Option<Exit>,
}

impl ProcessContainer {
    /// Waits until the process ends. Can be cancelled and called again.
    pub(super) async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.ended {
            return exit;
        }
        let exit = match self.child.wait().await {
            Ok(status) => exit(status),
            Err(error) => {
                tracing::warn!(%error, "cannot wait for a process");
                Exit { code: 255, signal: None }
            }
        };
        // Processes that it left behind end with it.
        self.group = Group(None);
        self.ended = Some(exit);
        exit
    }

    pub(super) fn terminate(&self) {
        self.group.signal(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.group.signal(Signal::KILL);
    }

    /// Returns the end of the log; `None` if it is empty or cannot be read.
    pub(super) fn log_tail(&self) -> Option<String> {
        let mut file = File::open(&self.log).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES))).ok()?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n");
        Some(tail).filter(|tail| !tail.is_empty())
    }

    pub(super) fn prober(&self) -> Arc<ProcessProber> {
        Arc::clone(&self.prober)
    }
}

/// A process group, which exists for as long as it has processes. They are killed on drop.
struct Group(Option<Pid>);

impl Group {
    /// Returns the group that a process leads.
    fn new(leader: &Child) -> Self {
        Group(leader.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(Err(error)) = self.0.map(|group| kill_process_group(group, signal)) {
            tracing::debug!(%error, "cannot signal a process group, which has probably ended");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Runs the commands of probes beside a process.
pub(super) struct ProcessProber {
    variables: Vec<(String, String)>,
    mounts: Mounts,
    directory: PathBuf,
}

impl ProcessProber {
    /// Runs a command, which must succeed. All of its processes are killed on drop.
    pub(super) async fn execute(&self, command: &[String]) -> Result<(), String> {
        let command: Vec<_> = command.iter().map(|part| self.mounts.replace(part)).collect();
        let mut process = self.command(&command).map_err(|error| error.to_string())?;
        process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ended = async {
            let mut child = process.spawn()?;
            // A timeout of the probe ends all of its processes.
            let _group = Group::new(&child);
            child.wait().await
        };
        match ended.await {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("command {command:?} ended: {status}")),
            Err(error) => Err(format!("cannot run {command:?}: {error}")),
        }
    }

    fn command(&self, command: &[String]) -> Result<Command, ProcessError> {
        let (program, arguments) = command.split_first().ok_or(ProcessError::NoCommand)?;
        let mut process = Command::new(program);
        process.args(arguments).current_dir(existing(&self.directory)).env_clear();
        for name in ["PATH", "HOME"] {
            if let Some(value) = std::env::var_os(name) {
                process.env(name, value);
            }
        }
        process.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // The process leads a group, which signals are sent to.
        process.process_group(0).kill_on_drop(true);
        Ok(process)
    }
}

/// Returns the directory, or the root if it does not exist.
fn existing(directory: &Path) -> &Path {
    if directory.is_dir() { directory } else { Path::new("/") }
}

/// Returns the exit code of a process: that of a shell if it was ended by a signal.
fn exit(status: ExitStatus) -> Exit {
    let signal = status.signal();
    Exit { code: status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(255), signal }
}
