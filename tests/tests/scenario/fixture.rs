//! The fixture: a cluster on this machine with a Logger, its faults, and waits for states.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use demo::{LocalCluster, LocalClusterConfig, local_cluster::AGENT_IMAGE};
use fastrand::Rng;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ContainerStatus, Pod},
    },
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use logger_operator::names::Names;
use logger_runtime::object::ApiObject;
use logger_types::v1::Logger;
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::availability::{Cluster, Error, Fault, observer::Target};
use tokio::{
    process::Command,
    time::{Instant, sleep, timeout},
};

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";
/// An image that cannot be pulled.
pub(crate) const MISSING_IMAGE: &str = "logger-agent:missing";

/// The limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(180);
/// How long `logger-agent verify` can take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);
/// The intervals of the Logger in seconds. A change starts a rollout. An agent whose disk is stalled by other tests for
/// less than two intervals remains ready.
const INTERVALS: [i32; 2] = [5, 6];
/// The maximum time in milliseconds until the operator is killed after a change.
const KILL_DELAY: u64 = 60;

/// A running cluster in a temporary directory.
pub(crate) struct Fixture {
    pub(crate) cluster: LocalCluster,
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
        Ok(Fixture { cluster: LocalCluster::start(config).await?, agent, directory })
    }

    pub(crate) fn client(&self) -> &Client {
        self.cluster.client()
    }

    /// Returns a directory for files of the test.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client().clone(), NAMESPACE)
    }

    /// Creates a Logger whose log has its name, and returns the names of its objects.
    pub(crate) async fn create(&self, name: &str, replicas: i32) -> Result<Names, Error> {
        self.create_with(name, name, replicas).await
    }

    /// Creates a Logger of this log.
    pub(crate) async fn create_with(&self, name: &str, log: &str, replicas: i32) -> Result<Names, Error> {
        let mut logger = tests::logger(name);
        logger.spec.name = log.to_owned();
        logger.spec.replicas = Some(replicas);
        logger.spec.time_interval = INTERVALS[0];
        Ok(Names::of(&self.api::<Logger>().create(&PostParams::default(), &logger).await?))
    }

    /// Patches a Logger.
    pub(crate) async fn patch(&self, logger: &str, spec: Value) -> Result<(), Error> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        // A connection can be that to a server that was stopped.
        wait("a patch", async || match self.api::<Logger>().patch(logger, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) => Err(status.message.into()),
            patched => Ok(patched.ok().map(drop)),
        })
        .await
    }

    /// Waits until an agent of a Logger meets a condition, and returns it.
    pub(crate) async fn wait_for_agent(
        &self,
        names: &Names,
        what: &str,
        mut condition: impl FnMut(&Pod) -> bool,
    ) -> Result<Pod, Error> {
        let (api, params) = (self.api::<Pod>(), ListParams::default().labels(&names.selector()));
        wait(what, async || {
            let pods = api.list(&params).await.ok();
            Ok(pods.and_then(|pods| pods.items.into_iter().find(|pod| condition(pod))))
        })
        .await
    }

    /// Waits until all agents of a Logger run the current revision and are ready.
    pub(crate) async fn wait_for_rollout(&self, names: &Names) -> Result<(), Error> {
        let api = self.api::<Deployment>();
        wait(&format!("the rollout of {}", names.child()), async || {
            let deployment = api.get_opt(names.child()).await.ok().flatten();
            Ok(deployment.is_some_and(|deployment| is_rolled_out(&deployment)).then_some(()))
        })
        .await
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

    /// Checks the files on nodes with `logger-agent verify`. A torn tail is no error: it is the end of a record that was
    /// not acknowledged, which the agent removes at its next start.
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

/// Waits until a poll returns a value. An error ends the wait.
pub(crate) async fn wait<T>(what: &str, mut poll: impl AsyncFnMut() -> Result<Option<T>, Error>) -> Result<T, Error> {
    let started = Instant::now();
    loop {
        if let Some(value) = poll().await? {
            return Ok(value);
        }
        if started.elapsed() > TIMEOUT {
            return Err(format!("not reached after {TIMEOUT:?}: {what}").into());
        }
        sleep(POLL).await;
    }
}

/// Returns whether a rollout is complete, as `kubectl rollout status` does.
fn is_rolled_out(deployment: &Deployment) -> bool {
    let desired = deployment.spec.as_ref().and_then(|spec| spec.replicas);
    deployment.status.as_ref().is_some_and(|status| {
        let is_current = status.observed_generation >= deployment.metadata.generation;
        let counts = [status.updated_replicas, status.available_replicas, status.replicas];
        is_current && counts.into_iter().all(|count| count == desired)
    })
}

/// Returns the status of the container of an agent.
pub(crate) fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

/// Returns why the container of an agent waits.
pub(crate) fn waiting_reason(pod: &Pod) -> Option<&str> {
    container(pod)?.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}

/// A Logger, the cluster that runs it, and the faults of both.
pub(crate) struct Scenario {
    pub(crate) fixture: Fixture,
    pub(crate) names: Names,
    rng: Rng,
    interval: i32,
}

impl Scenario {
    /// Starts a cluster with a Logger of two agents.
    pub(crate) async fn start(rng: Rng) -> Result<Self, Error> {
        let fixture = Fixture::start(|agent, _| Ok(agent.to_owned())).await?;
        let names = fixture.create("audit", 2).await?;
        Ok(Scenario { fixture, names, rng, interval: INTERVALS[0] })
    }

    /// Returns what an observer observes.
    pub(crate) fn target(&self) -> Target {
        Target { namespace: NAMESPACE.to_owned(), selector: self.names.selector() }
    }

    /// Changes the template of the agents.
    async fn change(&mut self) -> Result<(), Error> {
        let [one, other] = INTERVALS;
        self.interval = if self.interval == one { other } else { one };
        self.fixture.patch(self.names.logger(), json!({"timeInterval": self.interval})).await
    }

    /// Changes the template, and waits until all agents are replaced.
    async fn roll_out(&mut self) -> Result<(), Error> {
        self.change().await?;
        let (api, expected) = (self.fixture.api::<Deployment>(), format!("{}s", self.interval));
        wait("the operator applies the new interval", async || {
            let deployment = api.get_opt(self.names.child()).await.ok().flatten();
            let text = deployment.map(|deployment| serde_json::to_string(&deployment.spec)).transpose()?;
            Ok(text.is_some_and(|text| text.contains(&format!("\"{expected}\""))).then_some(()))
        })
        .await?;
        self.fixture.wait_for_rollout(&self.names).await
    }

    async fn start_bad_image(&mut self) -> Result<(), Error> {
        self.fixture.set_image(MISSING_IMAGE).await?;
        let is_bad = |pod: &Pod| matches!(waiting_reason(pod), Some("ErrImagePull" | "ImagePullBackOff"));
        self.fixture.wait_for_agent(&self.names, "an agent with the image that cannot be pulled", is_bad).await?;
        Ok(())
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
            Fault::RollOut => self.roll_out().await?,
            Fault::BadImage => self.start_bad_image().await?,
            Fault::KillOperator => {
                self.change().await?;
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
