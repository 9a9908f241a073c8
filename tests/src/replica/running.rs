//! A running replica: its probes, its resources and its end.

use std::{
    error::Error as StdError,
    fs,
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use http::Request;
use kube::{Client, Config};
use kubewright_runtime::sharding::SlotSet;
use tokio::runtime::Runtime;

use super::{ALIVE_TASKS, Options};
use crate::{
    history::Run,
    journal::{self, Event},
    process::{Exit, Process, Signal, wait_until},
};

/// The error of any part of a replica.
pub type Error = Box<dyn StdError + Send + Sync>;

/// A running replica. It is killed on drop.
pub struct Replica {
    process: Process,
    journal: PathBuf,
    pauses: Vec<Range<Duration>>,
    paused: Option<Duration>,
}

/// The resources that a replica uses.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// The number of open sockets.
    pub sockets: usize,
    /// The number of alive tasks.
    pub tasks: usize,
}

impl Replica {
    /// Starts the program.
    ///
    /// # Errors
    /// Fails if the program cannot be started.
    pub fn start(program: &Path, options: &Options) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.arg(serde_json::to_string(options)?);
        let process = Process::start(&options.identity, &mut command, options.journal.with_extension("log"))?;
        Ok(Replica { process, journal: options.journal.clone(), pauses: Vec::new(), paused: None })
    }

    /// Returns the identity in the Leases.
    pub fn identity(&self) -> &str {
        self.process.name()
    }

    /// Returns whether the process has not ended.
    ///
    /// # Errors
    /// Fails if the operating system cannot report its state.
    pub fn is_running(&mut self) -> Result<bool, Error> {
        Ok(self.process.is_running()?)
    }

    /// Returns whether it has started a reconciliation.
    pub fn has_reconciled(&self) -> bool {
        journal::read(&self.journal).iter().any(|entry| matches!(entry.event, Event::Started(_)))
    }

    /// Returns the slots that it recorded last.
    pub fn slots(&self) -> SlotSet {
        let entries = journal::read(&self.journal);
        let mut slots = entries.iter().rev().filter_map(|entry| match entry.event {
            Event::Slots(slots) => Some(slots),
            _ => None,
        });
        slots.next().unwrap_or_default()
    }

    /// Returns its log.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn log(&self) -> Result<String, Error> {
        Ok(fs::read_to_string(self.journal.with_extension("log"))?)
    }

    /// Waits until all checks of an endpoint, such as `/readyz`, succeed. The replica handles signals then.
    ///
    /// # Errors
    /// Fails if the replica ends, or a check does not succeed in time.
    pub fn wait_for(&mut self, endpoint: &str, runtime: &Runtime) -> Result<(), Error> {
        wait_until(&format!("{endpoint} of {}", self.identity()), || {
            if !self.process.is_running()? {
                return Err(format!("{} ended: {}", self.identity(), self.log()?).into());
            }
            Ok(self.address().is_some_and(|address| get(runtime, address, endpoint).is_ok()))
        })
    }

    /// Returns the numbers of open sockets and of alive tasks.
    ///
    /// # Errors
    /// Fails if the replica has ended or does not respond.
    pub fn figures(&self, runtime: &Runtime) -> Result<Figures, Error> {
        let sockets = self.process.open_sockets()?;
        let metrics = get(runtime, self.address().ok_or("no address")?, "/metrics")?;
        let line = metrics.lines().find(|line| line.starts_with(ALIVE_TASKS)).ok_or("no metric of the tasks")?;
        let tasks: f64 = line.rsplit(' ').next().unwrap_or_default().parse()?;
        Ok(Figures { sockets, tasks: tasks as usize })
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        Ok(self.process.signal(signal)?)
    }

    /// Stops all threads.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn pause(&mut self) -> Result<(), Error> {
        self.process.pause()?;
        self.paused = Some(journal::now());
        Ok(())
    }

    /// Continues all threads.
    ///
    /// # Errors
    /// Fails if the process has ended.
    pub fn resume(&mut self) -> Result<(), Error> {
        self.pauses.extend(self.paused.take().map(|paused| paused..journal::now()));
        Ok(self.process.resume()?)
    }

    /// Waits for the end of the process, and returns its history.
    ///
    /// # Errors
    /// Fails if the process does not end in time.
    pub fn end(self) -> Result<(Run, Exit), Error> {
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
fn get(runtime: &Runtime, address: SocketAddr, path: &str) -> Result<String, Error> {
    runtime.block_on(async {
        let client = Client::try_from(Config::new(format!("http://{address}").parse()?))?;
        Ok(client.request_text(Request::get(path).body(Vec::new())?).await?)
    })
}
