//! The fixed sequence of faults on a real control plane with kwok: an agent is ready while there is a node for one.
//!
//! kube-controller-manager, kube-scheduler and kwok run the cluster of two zones with two nodes each, and the operator
//! is that of the other tests. The Pods of kwok are no processes: their condition `Ready` counts as the response of an
//! agent, and there are no records. kwok cannot stop a node: a killed one is cut off.
//!
//! Without these components the test is ignored, and one line describes how to build them. With
//! `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in CI, that is a failure.

use std::{error::Error as StdError, sync::Arc, time::Duration};

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node, Pod},
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_manager::{Manager, ManagerError};
use kubewright_runtime::{CancellationToken, metrics::Metrics};
use libtest_mimic::Trial;
use logger_operator::{OperatorOptions, operator};
use parking_lot::Mutex;
use serde_json::json;
use tests::availability::{Cluster, Error, Fault, Observer, Run, fixed_sequence};
use tokio::{runtime::Runtime, task::block_in_place, time::sleep};
use tokio_util::task::AbortOnDropHandle;

use super::{
    fixture::KILL_DELAY,
    loggers::{Changing, Loggers, MISSING_IMAGE, NAMESPACE, wait},
};

/// An image that can be pulled.
const AGENT_IMAGE: &str = "logger-agent:latest";
/// The number of agents.
const AGENTS: usize = 2;
/// The nodes, each with its zone.
const NODES: [(&str, &str); 4] = [("a-1", "zone-a"), ("a-2", "zone-a"), ("b-1", "zone-b"), ("b-2", "zone-b")];
/// The namespace of the leases with the heartbeats of nodes.
const LEASES: &str = "kube-node-lease";
/// How long agents tolerate a lost node.
const TOLERATION_SECONDS: u32 = 2;

/// The suite, whose environment is the cluster.
pub(super) type Suite = envtest::Suite<Mutex<envtest::Cluster>>;

pub(super) fn suite() -> Result<Arc<Suite>, Box<dyn StdError>> {
    Ok(Suite::with_components("the fixed sequence on kwok", |assets, components| {
        Ok(Mutex::new(envtest::Cluster::start(assets, components)?))
    })?)
}

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("kwok::an_agent_is_ready_during_the_fixed_sequence", |cluster| {
        let mut cluster = cluster.lock();
        let result = Runtime::new()?.block_on(run(&mut cluster));
        result.map_err(|error| format!("{error}\n{}", cluster.logs()).into())
    })]
}

async fn run(cluster: &mut envtest::Cluster) -> Result<(), Error> {
    let mut kwok = Kwok::start(cluster).await?;
    let observer = Observer::start(&kwok.client, kwok.logger.target(false));
    let mut run = Run::start(&mut kwok, &observer, AGENTS).await?;
    fixed_sequence(&mut run).await?;
    println!("{}", run.report());
    observer.check()?;
    run.check_coverage()?;
    kwok.stop_operator().await
}

/// A control plane with kwok, the operator and a Logger.
struct Kwok<'a> {
    cluster: &'a mut envtest::Cluster,
    config: Config,
    client: Client,
    loggers: Loggers,
    logger: Changing,
    operator: Option<Operator>,
}

struct Operator {
    stop: CancellationToken,
    task: AbortOnDropHandle<Result<(), ManagerError>>,
}

impl<'a> Kwok<'a> {
    async fn start(cluster: &'a mut envtest::Cluster) -> Result<Self, Error> {
        let config = tests::config(cluster.control_plane().kubeconfig()).await?;
        let client = Client::try_from(config.clone())?;
        tests::install_crds(&client).await;
        let nodes = Api::<Node>::all(client.clone());
        for (name, zone) in NODES {
            let labels = json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone});
            let node = serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}}))?;
            nodes.create(&PostParams::default(), &node).await?;
        }
        let loggers = Loggers::new(client.clone());
        let logger = Changing::create(&loggers).await?;
        let mut kwok = Kwok { cluster, config, client, loggers, logger, operator: None };
        kwok.start_operator(AGENT_IMAGE)?;
        Ok(kwok)
    }

    fn start_operator(&mut self, image: &str) -> Result<(), Error> {
        let options = OperatorOptions { agent_toleration_seconds: TOLERATION_SECONDS, ..OperatorOptions::new(image) };
        let manager = Manager::for_config(self.config.clone())?;
        let manager = operator().add_to(manager, options, Vec::new(), Metrics::default())?.build()?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = AbortOnDropHandle::new(tokio::spawn(async move { manager.run(stopped).await }));
        self.operator = Some(Operator { stop, task });
        Ok(())
    }

    async fn stop_operator(&mut self) -> Result<(), Error> {
        let Some(Operator { stop, task }) = self.operator.take() else { return Ok(()) };
        stop.cancel();
        Ok(task.await??)
    }

    async fn set_image(&mut self, image: &str) -> Result<(), Error> {
        self.stop_operator().await?;
        self.start_operator(image)
    }

    /// Ends the operator within a reconciliation.
    async fn kill_operator(&mut self) -> Result<(), Error> {
        self.logger.change(&self.loggers).await?;
        sleep(Duration::from_millis(fastrand::u64(..KILL_DELAY))).await;
        if let Some(Operator { task, .. }) = self.operator.take() {
            task.abort();
            drop(task.await);
        }
        Ok(())
    }

    async fn patch_node(&self, node: &str, unschedulable: bool) -> Result<(), Error> {
        let patch = Patch::Merge(json!({"spec": {"unschedulable": unschedulable}}));
        Api::<Node>::all(self.client.clone()).patch(node, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Cordons a node, and evicts its pods as budgets allow it.
    async fn drain(&self, node: &str) -> Result<(), Error> {
        self.patch_node(node, true).await?;
        let pods = Api::<Pod>::namespaced(self.client.clone(), NAMESPACE);
        let on_node = ListParams::default().fields(&format!("spec.nodeName={node}"));
        wait(&format!("the drain of {node}"), async || {
            let remaining = pods.list(&on_node).await?.items;
            for pod in remaining.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
                match pods.evict(&pod.name_any(), &EvictParams::default()).await {
                    // A budget does not allow it yet, or the pod is gone.
                    Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 429) => {}
                    evicted => drop(evicted?),
                }
            }
            Ok(remaining.is_empty().then_some(()))
        })
        .await
    }

    /// Cuts nodes off: kwok leaves a node alone whose lease has another holder.
    async fn cut_off(&self, is_affected: impl Fn(&str, &str) -> bool) -> Result<(), Error> {
        let spec = json!({"holderIdentity": "cut-off", "leaseDurationSeconds": 86_400});
        self.each_lease(is_affected, async |leases, node| {
            leases.patch(node, &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await.map(drop)
        })
        .await
    }

    /// Restores nodes: kwok acquires their leases again.
    async fn restore(&self, is_affected: impl Fn(&str, &str) -> bool) -> Result<(), Error> {
        let delete =
            async |leases: &Api<Lease>, node: &str| leases.delete(node, &DeleteParams::default()).await.map(drop);
        self.each_lease(is_affected, delete).await
    }

    async fn each_lease(
        &self,
        is_affected: impl Fn(&str, &str) -> bool,
        change: impl AsyncFn(&Api<Lease>, &str) -> Result<(), kube::Error>,
    ) -> Result<(), Error> {
        let leases = Api::<Lease>::namespaced(self.client.clone(), LEASES);
        for (node, _) in NODES.iter().filter(|(node, zone)| is_affected(node, zone)) {
            change(&leases, node).await?;
        }
        Ok(())
    }
}

impl Cluster for Kwok<'_> {
    async fn inject(&mut self, fault: &Fault) -> Result<(), Error> {
        match fault {
            Fault::Drain(node) => self.drain(node).await,
            fault if fault.loses_nodes() => self.cut_off(|node, zone| fault.affects(node, zone)).await,
            Fault::RollOut => self.logger.roll_out(&self.loggers).await,
            Fault::BadImage => {
                self.set_image(MISSING_IMAGE).await?;
                self.loggers.wait_for_bad_image(&self.logger.names).await
            }
            Fault::KillOperator => self.kill_operator().await,
            _ => Ok(block_in_place(|| self.cluster.restart_api_server())?),
        }
    }

    async fn repair(&mut self, fault: &Fault) -> Result<(), Error> {
        match fault {
            Fault::Drain(node) => self.patch_node(node, false).await,
            fault if fault.loses_nodes() => self.restore(|node, zone| fault.affects(node, zone)).await,
            Fault::BadImage => self.set_image(AGENT_IMAGE).await,
            Fault::KillOperator => {
                self.start_operator(AGENT_IMAGE)?;
                self.logger.wait_for_rollout(&self.loggers).await
            }
            _ => Ok(()),
        }
    }
}
