//! Placements and storages: the agents of a Logger move from a Deployment to a DaemonSet, to a StatefulSet with volume
//! claims, and back, while at least one of them is ready.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{DaemonSet, Deployment, StatefulSet},
        core::v1::{PersistentVolumeClaim, Pod},
    },
};
use kube::{
    ResourceExt,
    api::{DeleteParams, ListParams},
};
use kubewright_runtime::object::ApiObject;
use libtest_mimic::Trial;
use logger_operator::names::Names;
use serde_json::json;
use tests::availability::{Error, Observer, observer::Target};

use super::{
    fixture::Fixture,
    loggers::{NAMESPACE, container, wait},
    trial,
};

const LOGGER: &str = "audit";
const REPLICAS: usize = 2;
/// The nodes of the cluster.
const NODES: usize = 4;
/// How long agents can take to start on a busy host.
const START: Duration = Duration::from_secs(120);

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("placements::agents_move_between_workloads_without_interruption", run)]
}

async fn run() -> Result<(), Error> {
    let fixture = Fixture::start(|agent, _| Ok(agent.to_owned())).await?;
    let names = fixture.loggers.create(LOGGER, 2).await?;
    let target = Target { namespace: NAMESPACE.to_owned(), selector: names.selector(), are_processes: true };
    let observer = Observer::start(fixture.client(), target);
    observer.wait_for("the agents are ready", START, |observed| observed.ready() >= REPLICAS).await?;
    observer.promise(true);

    fixture.loggers.patch(LOGGER, json!({"placement": "PerNode"})).await?;
    let agents = wait_for_agents(&fixture, &names, "DaemonSet", NODES).await?;
    let nodes: BTreeSet<_> = agents.iter().filter_map(|agent| agent.spec.as_ref()?.node_name.as_deref()).collect();
    assert_eq!(nodes.len(), NODES, "one agent on each node: {nodes:?}");
    wait_until_deleted::<Deployment>(&fixture, &names).await?;
    observer.check()?;

    let storage = json!({"volumeClaim": {"size": "1Gi"}});
    fixture.loggers.patch(LOGGER, json!({"placement": null, "storage": storage})).await?;
    wait_for_agents(&fixture, &names, "StatefulSet", REPLICAS).await?;
    wait_until_deleted::<DaemonSet>(&fixture, &names).await?;
    observer.check()?;
    replaced_agent_keeps_its_claim(&fixture, &names).await?;
    observer.check()?;

    fixture.loggers.patch(LOGGER, json!({"storage": null})).await?;
    wait_for_agents(&fixture, &names, "Deployment", REPLICAS).await?;
    wait_until_deleted::<StatefulSet>(&fixture, &names).await?;
    assert_eq!(claims(&fixture).await?.len(), REPLICAS, "claims outlive the StatefulSet");
    observer.check()?;
    fixture.verify(|_| true).await?;
    fixture.stop().await
}

/// Waits until a workload of this kind has exactly these agents and all are ready, and returns them.
async fn wait_for_agents(fixture: &Fixture, names: &Names, kind: &str, count: usize) -> Result<Vec<Pod>, Error> {
    let (api, params) = (fixture.loggers.api::<Pod>(), ListParams::default().labels(&names.selector()));
    // The Pods of a Deployment belong to its ReplicaSet.
    let owner_kind = if kind == "Deployment" { "ReplicaSet" } else { kind };
    let is_agent = |pod: &Pod| pod.owner_references().iter().any(|owner| owner.kind == owner_kind);
    wait(&format!("{count} agents of the {kind}"), async || {
        let mut agents = api.list(&params).await?.items;
        agents.retain(is_agent);
        let are_ready = agents.iter().all(|agent| container(agent).is_some_and(|container| container.ready));
        Ok((agents.len() == count && are_ready).then_some(agents))
    })
    .await
}

async fn wait_until_deleted<K>(fixture: &Fixture, names: &Names) -> Result<(), Error>
where
    K: ApiObject<Scope = NamespaceResourceScope>,
{
    let api = fixture.loggers.api::<K>();
    let what = format!("the deletion of the {}", K::kind(&()));
    wait(&what, async || Ok(api.get_opt(names.child()).await?.is_none().then_some(()))).await
}

/// Returns the names of the claims.
async fn claims(fixture: &Fixture) -> Result<BTreeSet<String>, Error> {
    let claims = fixture.loggers.api::<PersistentVolumeClaim>().list(&ListParams::default()).await?;
    Ok(claims.items.iter().map(ResourceExt::name_any).collect())
}

/// Deletes an agent: the new one has its name and its claim, in which the files of both are.
async fn replaced_agent_keeps_its_claim(fixture: &Fixture, names: &Names) -> Result<(), Error> {
    let before = claims(fixture).await?;
    assert_eq!(before.len(), REPLICAS, "{before:?}");
    let (api, name) = (fixture.loggers.api::<Pod>(), format!("{}-0", names.child()));
    let deleted = api.get(&name).await?.uid();
    api.delete(&name, &DeleteParams::default()).await?;
    wait("the new agent", async || Ok(api.get_opt(&name).await?.filter(|agent| agent.uid() != deleted))).await?;
    wait_for_agents(fixture, names, "StatefulSet", REPLICAS).await?;
    assert_eq!(claims(fixture).await?, before);
    fixture.verify(|_| true).await
}
