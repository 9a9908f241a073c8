//! Loggers of a cluster: requests, and waits for states.

use std::time::Duration;

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ContainerStatus, Pod},
        networking::v1::NetworkPolicy,
    },
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::object::ApiObject;
use logger_operator::names::Names;
use logger_types::v2::Logger;
use serde_json::{Value, json};
use tests::availability::{Error, observer::Target};
use tokio::time::{Instant, sleep};

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";
/// An image that cannot be pulled.
pub(crate) const MISSING_IMAGE: &str = "logger-agent:missing";

/// The limit of every wait.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(100);
/// The intervals of a Logger. A change starts a rollout. An agent whose disk is stalled by other tests for
/// less than two intervals remains ready.
const INTERVALS: [&str; 2] = ["5s", "6s"];

/// The Loggers of a cluster, and their objects.
pub(crate) struct Loggers {
    client: Client,
}

impl Loggers {
    pub(crate) fn new(client: Client) -> Self {
        Loggers { client }
    }

    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), NAMESPACE)
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
        logger.spec.interval = INTERVALS[0].to_owned();
        Ok(Names::new(&self.api::<Logger>().create(&PostParams::default(), &logger).await?))
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

    /// Waits until an agent has an image that cannot be pulled.
    pub(crate) async fn wait_for_bad_image(&self, names: &Names) -> Result<(), Error> {
        let is_bad = |pod: &Pod| matches!(waiting_reason(pod), Some("ErrImagePull" | "ImagePullBackOff"));
        self.wait_for_agent(names, "an agent with the image that cannot be pulled", is_bad).await.map(drop)
    }
}

/// A Logger whose template changes.
pub(crate) struct Changing {
    pub(crate) names: Names,
    interval: &'static str,
}

impl Changing {
    /// Creates a Logger of two agents, to which every Pod can connect.
    pub(crate) async fn create(loggers: &Loggers) -> Result<Self, Error> {
        let names = loggers.create("audit", 2).await?;
        loggers.patch(names.logger(), json!({"source": {"from": [{"namespaceSelector": {}}]}})).await?;
        Ok(Changing { names, interval: INTERVALS[0] })
    }

    /// Returns what an observer observes.
    pub(crate) fn target(&self, are_processes: bool) -> Target {
        Target { namespace: NAMESPACE.to_owned(), selector: self.names.selector(), are_processes }
    }

    /// Changes the template of the agents.
    pub(crate) async fn change(&mut self, loggers: &Loggers) -> Result<(), Error> {
        let [first, second] = INTERVALS;
        self.interval = if self.interval == first { second } else { first };
        loggers.patch(self.names.logger(), json!({"interval": self.interval})).await
    }

    /// Changes the template, and waits until all agents are replaced. They have a NetworkPolicy.
    pub(crate) async fn roll_out(&mut self, loggers: &Loggers) -> Result<(), Error> {
        self.change(loggers).await?;
        self.wait_for_rollout(loggers).await?;
        let policies = loggers.api::<NetworkPolicy>();
        wait("the network policy", async || Ok(policies.get_opt(self.names.child()).await.ok().flatten().map(drop)))
            .await
    }

    /// Waits until the operator has applied the last change and all agents are replaced.
    pub(crate) async fn wait_for_rollout(&self, loggers: &Loggers) -> Result<(), Error> {
        let (api, expected) = (loggers.api::<Deployment>(), format!("\"{}\"", self.interval));
        wait("the operator applies the new interval", async || {
            let deployment = api.get_opt(self.names.child()).await.ok().flatten();
            let text = deployment.map(|deployment| serde_json::to_string(&deployment.spec)).transpose()?;
            Ok(text.is_some_and(|text| text.contains(&expected)).then_some(()))
        })
        .await?;
        loggers.wait_for_rollout(&self.names).await
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
