//! The scenario: a Logger whose agents record, the loss of one of them, a replacement, and the end.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use demo::LocalCluster;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{Node, Pod, Service},
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_core::verbs;
use kubewright_runtime::{
    Event, ObjectKey,
    client::ScopedObject,
    kube::{
        Api, Client, ResourceExt,
        api::{DeleteParams, Patch, PatchParams, PostParams},
    },
};
use logger_client::{Clientset, SharedInformerFactory, typed::example_v2::LoggerClient};
use logger_operator::names::{AGENT, INSTANCE_LABEL, NAME_LABEL, Names};
use logger_types::v2::{Logger, LoggerSpec, LoggerState};
use serde_json::json;
use tokio::{sync::watch, time::timeout};

use crate::{
    agents::{Records, Unavailable, verify},
    observer::Observer,
    progress::{Printer, Steps},
};

/// The name of the Logger, which is also that of its log.
pub(crate) const NAME: &str = "activity";
const REPLICAS: i32 = 2;
const SCALED: i32 = 3;

/// How the scenario makes an agent fail, and what it can read.
pub(crate) enum Machines<'a> {
    /// The nodes are in this process: one is killed, and files are read.
    Local { cluster: &'a LocalCluster, agent: &'a Path },
    /// The nodes are those of a real cluster: a Pod is deleted, and metrics are read.
    Remote,
}

impl Machines<'_> {
    /// Returns the number of steps.
    fn steps(&self) -> usize {
        match self {
            Machines::Local { .. } => 11,
            Machines::Remote => 9,
        }
    }
}

/// What the scenario needs.
pub(crate) struct Options<'a> {
    pub(crate) machines: Machines<'a>,
    pub(crate) client: &'a Client,
    pub(crate) namespace: &'a str,
    /// How long each step can take.
    pub(crate) limit: Duration,
    /// The interval of the Logger.
    pub(crate) interval: &'a str,
}

/// The scenario, which writes through the typed client and reads from informers.
pub(crate) struct Scenario<'a> {
    options: Options<'a>,
    printer: Printer,
    loggers: LoggerClient,
    factory: SharedInformerFactory,
    observer: Observer,
    /// The Logger according to the latest event.
    logger: watch::Receiver<Option<Arc<Logger>>>,
    /// Whether the Logger was available first and then not, although it exists.
    was_lost: Arc<AtomicBool>,
}

impl<'a> Scenario<'a> {
    /// Prepares the scenario. It creates nothing.
    ///
    /// # Errors
    /// Fails if there is a Logger of this name.
    pub(crate) async fn new(options: Options<'a>, printer: &Printer) -> Result<Self> {
        let clientset = Clientset::new(options.client.clone());
        let (namespace, loggers) = (options.namespace, clientset.example_v2().loggers(options.namespace));
        if loggers.get_opt(NAME).await?.is_some() {
            let choice = match options.machines {
                Machines::Local { .. } => "choose another --directory",
                Machines::Remote => "delete it or choose another --namespace",
            };
            bail!("a Logger {namespace}/{NAME} already exists and is not changed; {choice}");
        }
        let factory = SharedInformerFactory::namespaced(&clientset, namespace);
        let (was_lost, (sender, logger)) = (Arc::new(AtomicBool::new(false)), watch::channel(None));
        let (output, lost) = (printer.clone(), Arc::clone(&was_lost));
        factory.example_v2().loggers().add_event_handler(move |event| {
            if event.object().name_any() == NAME {
                output.fact(line(event));
                if let Event::Updated { old, new } = event
                    && is_available(old)
                    && !is_available(new)
                {
                    lost.store(true, Ordering::Relaxed);
                }
                let current = Some(Arc::clone(event.object())).filter(|_| !matches!(event, Event::Deleted { .. }));
                sender.send_replace(current);
            }
        })?;
        let observer = Observer::new(factory.factory(), options.limit);
        Ok(Scenario { options, printer: printer.clone(), loggers, factory, observer, logger, was_lost })
    }

    /// Runs all steps. The Logger remains if one fails.
    pub(crate) async fn run(&self) -> Result<()> {
        self.factory.start();
        self.factory.factory().wait_for_sync(self.options.limit).await?;
        let mut steps = Steps::new(&self.printer, self.options.machines.steps());
        steps.run(&format!("A Logger with {REPLICAS} agents is created."), self.create()).await?;
        steps.run("The operator creates its Deployment, Service and budget.", self.children()).await?;
        let agents = steps.run("Its agents are spread over nodes.", self.scheduled()).await?;
        steps.run("The agents are ready, so the Logger is available.", self.available(REPLICAS)).await?;
        let names: Vec<_> = agents.iter().map(|agent| agent.name_any()).collect();
        steps.run("Each agent records its activity.", self.grown(&names)).await?;
        let (lost, survivors) = agents.split_first().context("there are no agents")?;
        let survivors: Vec<_> = survivors.iter().map(|agent| agent.name_any()).collect();
        match &self.options.machines {
            Machines::Local { cluster, agent } => {
                let node = node_of(lost);
                steps.run(&format!("The node {node} is killed."), self.kill(cluster, &node)).await?;
                steps.run("The survivor continues.", self.grown(&survivors)).await?;
                steps.run("A replacement comes.", self.replaced(lost)).await?;
                steps.run("No record is missing in any file.", self.verified(cluster, agent)).await?;
                let title = format!("The node {node} returns, and the Logger is scaled to {SCALED} agents.");
                steps.run(&title, self.scaled_after_return(cluster, &node)).await?;
            }
            Machines::Remote => {
                let title = format!("The agent {} is deleted.", lost.name_any());
                steps.run(&title, self.delete_agent(lost, &survivors)).await?;
                steps.run("A replacement comes.", self.replaced(lost)).await?;
                self.printer.skipped("the check of the files, which are on the nodes of the cluster");
                steps.run(&format!("The Logger is scaled to {SCALED} agents."), self.scaled()).await?;
            }
        }
        steps.run("The Logger is deleted, and everything with it.", self.deleted()).await
    }

    /// Creates the Logger, and waits until it is available.
    pub(crate) async fn start_logger(&self) -> Result<()> {
        self.factory.start();
        self.factory.factory().wait_for_sync(self.options.limit).await?;
        let mut steps = Steps::new(&self.printer, 2);
        steps.run(&format!("A Logger with {REPLICAS} agents is created."), self.create()).await?;
        steps.run("The agents are ready, so the Logger is available.", self.available(REPLICAS)).await
    }

    /// Deletes the Logger if it exists, and waits until its children are gone.
    pub(crate) async fn clean_up(&self) -> Result<()> {
        match self.loggers.delete(NAME, &DeleteParams::default()).await {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => self.gone().await,
        }
    }

    /// Stops the informers.
    pub(crate) async fn stop(self) {
        self.factory.shutdown().await;
    }

    async fn create(&self) -> Result<()> {
        let metadata = ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() };
        let (name, interval) = (NAME.to_owned(), self.options.interval.to_owned());
        let spec = LoggerSpec { name, interval, replicas: Some(REPLICAS), ..LoggerSpec::default() };
        self.loggers.create(&Logger { metadata, spec, status: None }, &PostParams::default()).await?;
        self.wait_for_logger("the Logger is added", |logger| logger.is_some()).await
    }

    async fn children(&self) -> Result<()> {
        let name = self.child();
        self.exists::<Deployment>(&name, "Deployment").await?;
        self.exists::<Service>(&name, "Service").await?;
        self.exists::<PodDisruptionBudget>(&name, "PodDisruptionBudget").await
    }

    /// Returns the agents. They are on different nodes, if there are enough.
    async fn scheduled(&self) -> Result<Vec<Arc<Pod>>> {
        let agents = self.observer.wait_for("all agents are scheduled", pod_line, |pods: &[Arc<Pod>]| {
            let agents = agents(pods);
            let is_complete = agents.len() == count(REPLICAS) && agents.iter().all(|pod| !node_of(pod).is_empty());
            is_complete.then_some(agents)
        });
        let agents = agents.await?;
        for agent in &agents {
            self.printer.fact(format!("Pod {} on node {}", agent.name_any(), node_of(agent)));
        }
        let is_spread = agents
            .iter()
            .enumerate()
            .all(|(index, agent)| agents[index + 1..].iter().all(|other| node_of(agent) != node_of(other)));
        match self.options.machines {
            Machines::Local { .. } => ensure!(is_spread, "several agents are on the same node"),
            Machines::Remote if is_spread => {}
            Machines::Remote => self.printer.fact("several agents are on the same node: there are too few nodes"),
        }
        Ok(agents)
    }

    /// Waits until this number of agents is ready, according to the status of the Logger and the Pods.
    async fn available(&self, replicas: i32) -> Result<()> {
        self.ready_agents(replicas, None).await?;
        self.wait_for_logger(&format!("the Logger reports {replicas} ready agents"), |logger| {
            logger.is_some_and(|logger| is_available(logger) && ready(logger) == replicas)
        })
        .await
    }

    /// Waits until this number of agents is ready, and that no others remain, except for those being deleted.
    async fn ready_agents(&self, replicas: i32, replaced: Option<&Pod>) -> Result<Vec<Arc<Pod>>> {
        let uid = replaced.and_then(|pod| pod.uid());
        let what = format!("{replicas} agents are ready");
        let ready = self.observer.wait_for(&what, pod_line, |pods: &[Arc<Pod>]| {
            let agents = agents(pods);
            let is_new = |pod: &Arc<Pod>| uid.is_none() || pod.uid() != uid;
            let is_complete = agents.len() == count(replicas) && agents.iter().all(|pod| is_ready(pod) && is_new(pod));
            is_complete.then_some(agents)
        });
        ready.await
    }

    async fn grown(&self, agents: &[String]) -> Result<()> {
        let records = match &self.options.machines {
            Machines::Local { cluster, .. } => Records::Files(cluster),
            Machines::Remote => Records::Metrics { client: self.options.client, namespace: self.options.namespace },
        };
        match records.wait_until_grown(&self.observer, agents).await? {
            Ok(numbers) => {
                for (agent, before, now) in numbers {
                    self.printer.fact(format!("{agent}: {before} to {now} {}", records.unit()));
                }
            }
            Err(Unavailable(reason)) => self.printer.skipped(format!("the metrics of agents cannot be read: {reason}")),
        }
        Ok(())
    }

    /// Kills a node, and waits until the cluster has noticed.
    async fn kill(&self, cluster: &LocalCluster, node: &str) -> Result<()> {
        timeout(self.options.limit, cluster.nodes().kill_node(node)).await.context("the node is not killed")??;
        self.printer.fact(format!("the processes on {node} have ended"));
        self.wait_for_node(node, false).await
    }

    async fn wait_for_node(&self, name: &str, is_ready: bool) -> Result<()> {
        let what = format!("the node {name} is {}", if is_ready { "ready" } else { "not ready" });
        let reached = self.observer.wait_for(&what, node_line, |nodes: &[Arc<Node>]| {
            let node = nodes.iter().find(|node| node.name_any() == name)?;
            (is_node_ready(node) == is_ready).then_some(())
        });
        reached.await?;
        self.printer.fact(what);
        Ok(())
    }

    /// Deletes an agent, and waits until the others have recorded something.
    async fn delete_agent(&self, lost: &Pod, survivors: &[String]) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.options.client.clone(), self.options.namespace);
        pods.delete(&lost.name_any(), &DeleteParams::default()).await?;
        self.grown(survivors).await
    }

    /// Waits until another agent is ready in place of this one, and checks that the Logger was available all the time.
    async fn replaced(&self, lost: &Pod) -> Result<()> {
        for agent in self.ready_agents(REPLICAS, Some(lost)).await? {
            self.printer.fact(format!("Pod {} on node {} is ready", agent.name_any(), node_of(&agent)));
        }
        self.available(REPLICAS).await?;
        ensure!(!self.was_lost.load(Ordering::Relaxed), "the Logger was unavailable meanwhile: no agent survived");
        self.printer.fact("the Logger was available all the time");
        Ok(())
    }

    /// Checks the files of all agents, also of the one on the killed node.
    async fn verified(&self, cluster: &LocalCluster, agent: &Path) -> Result<()> {
        let directories = cluster.data_directories();
        ensure!(!directories.is_empty(), "there are no files in {}", cluster.directory().display());
        for directory in directories {
            // A record that is being written is a torn tail.
            let what = format!("`logger-agent verify {}` finds no defect", directory.display());
            let summary = self.observer.poll(&what, async || verify(agent, &directory).await).await?;
            self.printer.fact(format!("logger-agent verify: {summary}"));
        }
        Ok(())
    }

    async fn scaled_after_return(&self, cluster: &LocalCluster, node: &str) -> Result<()> {
        timeout(self.options.limit, cluster.nodes().restore(node)).await.context("the node does not return")??;
        self.wait_for_node(node, true).await?;
        self.scaled().await
    }

    /// Scales the Logger by its scale subresource, as `kubectl scale`.
    async fn scaled(&self) -> Result<()> {
        let api: Api<Logger> = Api::namespaced(self.options.client.clone(), self.options.namespace);
        let patch = Patch::Merge(json!({"spec": {"replicas": SCALED}}));
        api.patch_scale(NAME, &PatchParams::default(), &patch).await?;
        self.available(SCALED).await
    }

    async fn deleted(&self) -> Result<()> {
        self.loggers.delete(NAME, &DeleteParams::default()).await?;
        self.gone().await?;
        if let Machines::Local { cluster, .. } = &self.options.machines {
            let removed = self.observer.poll("the files are removed", async || {
                let directories = cluster.data_directories();
                Ok(if directories.is_empty() { Ok(()) } else { Err(format!("{directories:?}")) })
            });
            removed.await?;
            self.printer.fact("no Pod and no file remains");
        }
        Ok(())
    }

    /// Waits until the Logger, its children and its agents are gone.
    async fn gone(&self) -> Result<()> {
        // The events can be behind the API server.
        let gone = self.observer.poll("the Logger is gone", async || {
            Ok(self.loggers.get_opt(NAME).await?.map_or(Ok(()), |logger| Err(describe(&logger))))
        });
        gone.await?;
        self.wait_for_logger("the deletion of the Logger is an event", |logger| logger.is_none()).await?;
        let name = self.child();
        self.is_gone::<Deployment>(&name, "Deployment").await?;
        self.is_gone::<Service>(&name, "Service").await?;
        self.is_gone::<PodDisruptionBudget>(&name, "PodDisruptionBudget").await?;
        let gone = self.observer.wait_for("the agents are gone", pod_line, |pods: &[Arc<Pod>]| {
            (!pods.iter().any(|pod| is_agent(pod))).then_some(())
        });
        gone.await
    }

    async fn exists<K>(&self, name: &str, kind: &str) -> Result<()>
    where
        K: ScopedObject + verbs::List + verbs::Watch,
    {
        let what = format!("the {kind} {name} exists");
        let exists = |objects: &[Arc<K>]| objects.iter().any(|object| object.name_any() == name).then_some(());
        self.observer.wait_for(&what, |object: &K| object.name_any(), exists).await?;
        self.printer.fact(format!("{kind} {name}"));
        Ok(())
    }

    async fn is_gone<K>(&self, name: &str, kind: &str) -> Result<()>
    where
        K: ScopedObject + verbs::List + verbs::Watch,
    {
        let what = format!("the {kind} {name} is gone");
        let is_gone = |objects: &[Arc<K>]| (!objects.iter().any(|object| object.name_any() == name)).then_some(());
        self.observer.wait_for(&what, |object: &K| object.name_any(), is_gone).await
    }

    /// Waits until the latest event of the Logger, or its absence, meets the condition.
    async fn wait_for_logger(&self, what: &str, condition: impl Fn(Option<&Logger>) -> bool) -> Result<()> {
        let mut logger = self.logger.clone();
        let met = logger.wait_for(|logger| condition(logger.as_deref()));
        match timeout(self.observer.limit(), met).await {
            Ok(met) => met.map(drop).context("the watch of Loggers ended"),
            Err(_) => {
                let observed: Vec<_> = self.logger.borrow().as_deref().map(describe).into_iter().collect();
                self.observer.not_observed(what, &observed)
            }
        }
    }

    /// Returns the name of the children.
    fn child(&self) -> String {
        let metadata = ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() };
        Names::new(&Logger { metadata, ..Logger::default() }).child().to_owned()
    }
}

/// Formats an event as `MODIFIED default/activity  Available, 2 of 2, every 1s`.
fn line(event: &Event<Logger>) -> String {
    let event_type = match event {
        Event::Added { .. } => "ADDED",
        Event::Updated { .. } => "MODIFIED",
        Event::Deleted { .. } => "DELETED",
    };
    format!("{event_type} {}", describe(event.object()))
}

fn describe(logger: &Logger) -> String {
    let state = logger.status.as_ref().and_then(|status| status.state);
    let state = state.map_or_else(|| "no state yet".to_owned(), |state| format!("{state:?}"));
    let (key, desired) = (ObjectKey::from_object(logger), logger.spec.replicas.unwrap_or(1));
    format!("{key}  {state}, {} of {desired}, every {}", ready(logger), logger.spec.interval)
}

fn is_available(logger: &Logger) -> bool {
    logger.status.as_ref().is_some_and(|status| status.state == Some(LoggerState::Available))
}

fn ready(logger: &Logger) -> i32 {
    logger.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default()
}

fn count(replicas: i32) -> usize {
    usize::try_from(replicas).unwrap_or_default()
}

/// Returns the agents that are not being deleted.
fn agents(pods: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
    let is_running = |pod: &&Arc<Pod>| is_agent(pod) && pod.metadata.deletion_timestamp.is_none();
    pods.iter().filter(is_running).cloned().collect()
}

fn is_agent(pod: &Pod) -> bool {
    let has = |label: &str, value: &str| pod.labels().get(label).is_some_and(|found| found == value);
    has(NAME_LABEL, AGENT) && has(INSTANCE_LABEL, NAME)
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    has_ready(conditions.map(|condition| (&condition.type_, &condition.status)))
}

fn is_node_ready(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    has_ready(conditions.map(|condition| (&condition.type_, &condition.status)))
}

/// Returns whether the condition `Ready` is true, by the types and the statuses of conditions.
fn has_ready<'a>(mut conditions: impl Iterator<Item = (&'a String, &'a String)>) -> bool {
    conditions.any(|(type_, status)| type_ == "Ready" && status == "True")
}

fn node_of(pod: &Pod) -> String {
    pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default()
}

fn pod_line(pod: &Pod) -> String {
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let mut waiting = statuses.filter_map(|status| status.state.as_ref()?.waiting.as_ref()?.reason.clone());
    let state = match (pod.metadata.deletion_timestamp.is_some(), is_ready(pod)) {
        (true, _) => "being deleted".to_owned(),
        (false, true) => "ready".to_owned(),
        (false, false) => waiting.next().unwrap_or_else(|| "not ready".to_owned()),
    };
    let node = Some(node_of(pod)).filter(|node| !node.is_empty()).unwrap_or_else(|| "no node".to_owned());
    format!("Pod {} on {node} is {state}", pod.name_any())
}

fn node_line(node: &Node) -> String {
    format!("node {} is {}", node.name_any(), if is_node_ready(node) { "ready" } else { "not ready" })
}
