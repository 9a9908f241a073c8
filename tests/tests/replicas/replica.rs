//! A running replica: its probes, its resources and its end.

use std::{
    fs,
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use http::Request;
use kube::{Client, Config};
use libtest_mimic::Failed;
use tests::{
    history::Run,
    journal::{self, Event},
    process::{Exit, Process, Signal, wait_until},
    replica::{ALIVE_TASKS, Options},
};
use tokio::runtime::Runtime;

/// A running replica. It is killed on drop.
pub(super) struct Replica {
    process: Process,
    journal: PathBuf,
    pauses: Vec<Range<Duration>>,
    paused: Option<Duration>,
}

/// The resources that a replica uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub(super) sockets: usize,
    pub(super) tasks: usize,
}

/// Returns the options of a replica with its files in this directory.
pub(super) fn options(kubeconfig: &Path, namespace: &str, identity: &str, directory: &Path) -> Options {
    Options {
        kubeconfig: kubeconfig.to_owned(),
        namespace: namespace.to_owned(),
        identity: identity.to_owned(),
        journal: directory.join(format!("{identity}.journal")),
        port: 0,
        certificates: None,
    }
}

impl Replica {
    pub(super) fn start(options: &Options) -> Result<Self, Failed> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replica"));
        command.arg(serde_json::to_string(options)?);
        let process = Process::start(&options.identity, &mut command, options.journal.with_extension("log"))?;
        Ok(Replica { process, journal: options.journal.clone(), pauses: Vec::new(), paused: None })
    }

    pub(super) fn identity(&self) -> &str {
        self.process.name()
    }

    pub(super) fn is_running(&mut self) -> Result<bool, Failed> {
        Ok(self.process.is_running()?)
    }

    /// Returns whether it has started a reconciliation.
    pub(super) fn has_reconciled(&self) -> bool {
        journal::read(&self.journal).iter().any(|entry| matches!(entry.event, Event::Started(_)))
    }

    /// Waits until all checks of an endpoint, such as `/readyz`, succeed. The replica handles signals then.
    pub(super) fn wait_for(&mut self, endpoint: &str, runtime: &Runtime) -> Result<(), Failed> {
        wait_until(&format!("{endpoint} of {}", self.identity()), || {
            if !self.process.is_running()? {
                let log = fs::read_to_string(self.journal.with_extension("log"))?;
                return Err(format!("{} ended: {log}", self.identity()).into());
            }
            Ok(self.address().is_some_and(|address| get(runtime, address, endpoint).is_ok()))
        })
    }

    /// Returns the numbers of open sockets and of alive tasks.
    pub(super) fn figures(&self, runtime: &Runtime) -> Result<Figures, Failed> {
        let sockets = self.process.open_sockets()?;
        let metrics = get(runtime, self.address().ok_or("no address")?, "/metrics")?;
        let line = metrics.lines().find(|line| line.starts_with(ALIVE_TASKS)).ok_or("no metric of the tasks")?;
        let tasks: f64 = line.rsplit(' ').next().unwrap_or_default().parse()?;
        Ok(Figures { sockets, tasks: tasks as usize })
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), Failed> {
        Ok(self.process.signal(signal)?)
    }

    /// Stops all threads.
    pub(super) fn pause(&mut self) -> Result<(), Failed> {
        self.process.pause()?;
        self.paused = Some(journal::now());
        Ok(())
    }

    /// Continues all threads.
    pub(super) fn resume(&mut self) -> Result<(), Failed> {
        self.pauses.extend(self.paused.take().map(|paused| paused..journal::now()));
        Ok(self.process.resume()?)
    }

    /// Waits for the end of the process, and returns its history.
    pub(super) fn end(self) -> Result<(Run, Exit), Failed> {
        let identity = self.identity().to_owned();
        let exit = self.process.wait()?;
        let (entries, ended) = (journal::read(&self.journal), journal::now());
        Ok((Run { identity, entries, pauses: self.pauses, ended }, exit))
    }

    /// Returns the address of the health checks and the metrics, if it is known yet.
    fn address(&self) -> Option<SocketAddr> {
        journal::read(&self.journal).iter().find_map(|entry| match entry.event {
            Event::Serving(address) => Some(address),
            _ => None,
        })
    }
}

/// Sends a GET request on a new connection, and returns the body of a successful response.
fn get(runtime: &Runtime, address: SocketAddr, path: &str) -> Result<String, Failed> {
    runtime.block_on(async {
        let client = Client::try_from(Config::new(format!("http://{address}").parse()?))?;
        Ok(client.request_text(Request::get(path).body(Vec::new())?).await?)
    })
}
