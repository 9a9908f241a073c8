//! The replicas: processes of one fleet, their memory and their traffic.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use tempfile::TempDir;
use tokio::time::sleep;

use super::{journal::Journal, network::Network};
use crate::{cargo, paths, process::Process, program};

/// The namespace without objects.
const EMPTY: &str = "default";
/// The number of slots of a fleet.
const SLOTS: usize = 64;
/// Exceeds the duration of a measurement on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(15);
const POLL: Duration = Duration::from_millis(100);

/// What all replicas of a fleet have in common.
pub(super) struct Settings<'a> {
    pub(super) kubeconfig: &'a Path,
    pub(super) server: SocketAddr,
    /// The directory of all files.
    pub(super) directory: &'a Path,
    /// The value of changed objects.
    pub(super) changed: String,
    /// How long a reconciliation takes.
    pub(super) time: Duration,
}

/// Builds the program of the replicas.
pub(super) fn build() -> Result<()> {
    eprintln!("building the program");
    let args = ["build", "--release", "--package", "bench", "--bin", "sharded-replica"];
    program::output(&mut cargo::command(paths::workspace_root(), args)).map(drop)
}

/// The running replicas.
pub(super) struct Fleet {
    replicas: Vec<Replica>,
    /// Removed after the replicas have ended.
    _directory: TempDir,
}

struct Replica {
    process: Process,
    network: Network,
    journal: Journal,
}

impl Fleet {
    /// Starts this number of replicas, and waits until each has its part of the slots.
    ///
    /// As many others without objects are first and leave when the replicas have joined. So no replica has more objects
    /// than its part at any time, and the memory that it uses is that of its part.
    pub(super) async fn start(settings: &Settings<'_>, count: usize) -> Result<Fleet> {
        let directory = TempDir::with_prefix_in("fleet-", settings.directory)?;
        let start = async |name: &str, namespace: &str| {
            let mut replicas = Vec::new();
            for number in 0..count {
                replicas
                    .push(Replica::start(settings, directory.path(), &format!("{name}-{number}"), namespace).await?);
            }
            anyhow::Ok(replicas)
        };
        let mut others = start("other", EMPTY).await?;
        wait_until(&mut others, "even slots of the first replicas", are_even).await?;
        let mut replicas = start("replica", super::objects::NAMESPACE).await?;
        let joined = |replicas: &[Replica]| replicas.iter().all(|replica| replica.journal.slots() > 0);
        wait_until(&mut replicas, "slots of all replicas", joined).await?;
        for other in others {
            other.process.stop()?;
        }
        wait_until(&mut replicas, "even slots", are_even).await?;
        Ok(Fleet { replicas, _directory: directory })
    }

    /// Returns the mean of the resident memory of the replicas after an idle time, in megabytes of 10^6 bytes.
    pub(super) async fn memory_after(&self, idle: Duration) -> Result<f64> {
        sleep(idle).await;
        let mut sum = 0.0;
        for replica in &self.replicas {
            sum += replica.process.memory_after(Duration::ZERO).await?;
        }
        Ok(sum / self.replicas.len() as f64)
    }

    /// Returns the mean of the bytes that a replica has received, in megabytes of 10^6 bytes.
    pub(super) fn received(&self) -> f64 {
        let sum: f64 = self.replicas.iter().map(|replica| replica.network.received()).sum();
        sum / self.replicas.len() as f64 / 1e6
    }

    /// Waits until each of these objects is reconciled, and returns when the last one was for the first time.
    pub(super) async fn wait_until_reconciled(&mut self, names: &BTreeSet<String>) -> Result<Duration> {
        let are_reconciled = |replicas: &[Replica]| {
            let reconciled: BTreeSet<_> =
                replicas.iter().flat_map(|replica| replica.journal.reconciled().keys()).collect();
            names.iter().all(|name| reconciled.contains(name))
        };
        wait_until(&mut self.replicas, "the reconciliations", are_reconciled).await?;
        let first = |name: &String| {
            let times = self.replicas.iter().filter_map(|replica| replica.journal.reconciled().get(name));
            times.min().copied().unwrap_or_default()
        };
        Ok(names.iter().map(first).max().unwrap_or_default())
    }

    /// Stops all replicas.
    pub(super) fn stop(self) -> Result<()> {
        self.replicas.into_iter().try_for_each(|replica| replica.process.stop())
    }
}

impl Replica {
    async fn start(settings: &Settings<'_>, directory: &Path, identity: &str, namespace: &str) -> Result<Replica> {
        let network = Network::start(settings.server).await?;
        let journal = directory.join(identity);
        let mut command = Command::new(paths::target_dir().join("release/sharded-replica"));
        command.arg(settings.kubeconfig).arg(network.address().to_string()).args([namespace, identity]);
        command.arg(&settings.changed).arg(settings.time.as_millis().to_string()).arg(&journal);
        let (process, _) = Process::start(command, &journal.with_extension("log"), false)?;
        Ok(Replica { process, network, journal: Journal::new(journal) })
    }
}

/// Returns whether the replicas have all slots, in equal parts.
fn are_even(replicas: &[Replica]) -> bool {
    let counts = || replicas.iter().map(|replica| replica.journal.slots());
    let difference = counts().max().unwrap_or_default() - counts().min().unwrap_or_default();
    counts().sum::<usize>() == SLOTS && difference <= 1
}

/// Waits until a condition of the replicas is true.
async fn wait_until(replicas: &mut [Replica], what: &str, condition: impl Fn(&[Replica]) -> bool) -> Result<()> {
    let started = Instant::now();
    loop {
        for replica in &mut *replicas {
            replica.process.check()?;
            replica.journal.update()?;
        }
        if condition(replicas) {
            return Ok(());
        }
        ensure!(started.elapsed() < TIMEOUT, "timed out waiting for {what}");
        sleep(POLL).await;
    }
}
