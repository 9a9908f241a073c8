//! The fixture: a cluster on this machine with a Logger, its faults, and waits for states.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use demo::{LocalCluster, LocalClusterConfig, local_cluster::AGENT_IMAGE};
use fastrand::Rng;
use kube::Client;
use tempfile::TempDir;
use tests::availability::{Cluster, Error, Fault};
use tokio::{
    process::Command,
    time::{sleep, timeout},
};

use super::loggers::{Changing, Loggers, MISSING_IMAGE, TIMEOUT, wait};

/// How long `logger-agent verify` can take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum time in milliseconds until the operator is killed after a change.
pub(crate) const KILL_DELAY: u64 = 60;

/// A running cluster in a temporary directory.
pub(crate) struct Fixture {
    pub(crate) cluster: LocalCluster,
    pub(crate) loggers: Loggers,
    agent: PathBuf,
    directory: TempDir,
}

impl Fixture {
    /// Starts a cluster of two zones with two nodes each, whose agents run this program; the agent itself by default.
    pub(crate) async fn start(wrap: impl FnOnce(&Path, &Path) -> Result<PathBuf, Error>) -> Result<Self, Error> {
        let (agent, directory) = (tests::program("logger-agent"), tempfile::tempdir()?);
        let program = wrap(&agent, directory.path())?;
        let zones = ["zone-a", "zone-b"].map(|zone| (zone.to_owned(), 2));
        let config = LocalClusterConfig {
            zones: zones.into(),
            ..LocalClusterConfig::new(program, directory.path().join("cluster"))
        };
        let cluster = LocalCluster::start(config).await?;
        let loggers = Loggers::new(cluster.client().clone());
        Ok(Fixture { cluster, loggers, agent, directory })
    }

    pub(crate) fn client(&self) -> &Client {
        self.cluster.client()
    }

    /// Returns a directory for files of the test.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Waits until the files of this number of agents exist: those of removed Pods are removed.
    pub(crate) async fn wait_for_files(&self, agents: usize) -> Result<(), Error> {
        let has_files = || self.cluster.data_directories().len() == agents;
        wait(&format!("files of {agents} agents"), async || Ok(has_files().then_some(()))).await
    }

    /// Restarts the operator with another image of agents.
    pub(crate) async fn set_image(&mut self, image: &str) -> Result<(), Error> {
        self.cluster.operator_options().agent_image = image.to_owned();
        self.cluster.stop_operator().await?;
        Ok(self.cluster.start_operator()?)
    }

    /// Checks the files on nodes with `logger-agent verify`. A torn tail is no error: it is the end of a record that
    /// was not acknowledged, which the agent removes at its next start.
    pub(crate) async fn verify(&self, is_included: impl Fn(&str) -> bool) -> Result<(), Error> {
        for directory in self.cluster.data_directories() {
            let mut parts = directory.components().filter_map(|part| part.as_os_str().to_str());
            if parts.any(&is_included) {
                verify(&self.agent, &directory).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn stop(self) -> Result<(), Error> {
        Ok(self.cluster.stop().await?)
    }
}

/// Checks a directory with `logger-agent verify`, and returns its output.
async fn verify(agent: &Path, directory: &Path) -> Result<(), Error> {
    let output = Command::new(agent).arg("verify").arg(directory).kill_on_drop(true).output();
    let output = timeout(VERIFY_TIMEOUT, output).await;
    let output =
        output.map_err(|_| format!("{}: `verify` has not ended after {VERIFY_TIMEOUT:?}", directory.display()))??;
    let text = String::from_utf8_lossy(&output.stdout);
    let findings = text.lines().next_back().and_then(|line| line.strip_suffix(" findings")?.parse::<usize>().ok());
    match findings == Some(text.matches(": torn tail: ").count()) {
        true => Ok(()),
        false => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {text}{errors}", directory.display()).into())
        }
    }
}

/// A Logger, the cluster that runs it, and the faults of both.
pub(crate) struct Scenario {
    pub(crate) fixture: Fixture,
    pub(crate) logger: Changing,
    rng: Rng,
}

impl Scenario {
    /// Starts a cluster with a Logger of two agents.
    pub(crate) async fn start(rng: Rng) -> Result<Self, Error> {
        let fixture = Fixture::start(|agent, _| Ok(agent.to_owned())).await?;
        let logger = Changing::create(&fixture.loggers).await?;
        Ok(Scenario { fixture, logger, rng })
    }

    async fn start_bad_image(&mut self) -> Result<(), Error> {
        self.fixture.set_image(MISSING_IMAGE).await?;
        self.fixture.loggers.wait_for_bad_image(&self.logger.names).await
    }
}

impl Cluster for Scenario {
    async fn inject(&mut self, fault: &Fault) -> Result<(), Error> {
        let nodes = self.fixture.cluster.nodes().clone();
        match fault {
            Fault::Drain(node) => nodes.drain(node, TIMEOUT).await?,
            Fault::KillNode(node) => nodes.kill_node(node).await?,
            Fault::CutOffNode(node) => nodes.cut_off(node).await?,
            Fault::KillZone(zone) => nodes.kill_zone(zone).await?,
            Fault::CutOffZone(zone) => nodes.cut_off_zone(zone).await?,
            Fault::RollOut => self.logger.roll_out(&self.fixture.loggers).await?,
            Fault::BadImage => self.start_bad_image().await?,
            Fault::KillOperator => {
                self.logger.change(&self.fixture.loggers).await?;
                sleep(Duration::from_millis(self.rng.u64(..KILL_DELAY))).await;
                self.fixture.cluster.kill_operator().await;
            }
            Fault::RestartServer => self.fixture.cluster.restart_server().await?,
        }
        // The files of agents that were killed are complete up to the last acknowledged record.
        match fault {
            Fault::KillNode(node) => self.fixture.verify(|part| part == node).await,
            Fault::KillZone(zone) => self.fixture.verify(|part| part.starts_with(&format!("{zone}-"))).await,
            _ => Ok(()),
        }
    }

    async fn repair(&mut self, fault: &Fault) -> Result<(), Error> {
        let nodes = self.fixture.cluster.nodes().clone();
        match fault {
            Fault::Drain(node) => nodes.uncordon(node).await?,
            Fault::KillNode(node) | Fault::CutOffNode(node) => nodes.restore(node).await?,
            Fault::KillZone(zone) | Fault::CutOffZone(zone) => nodes.restore_zone(zone).await?,
            Fault::BadImage => self.fixture.set_image(AGENT_IMAGE).await?,
            Fault::KillOperator => self.fixture.cluster.start_operator()?,
            Fault::RollOut | Fault::RestartServer => {}
        }
        Ok(())
    }
}
