//! The fixture of the tests: a running cluster on an in-memory API server.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{apps::v1::Deployment, core::v1::Pod, events::v1::Event},
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{CancellationToken, client::ScopedObject, object::ApiObject};
use kubewright_simulator::{Cluster, ClusterBuilder, ClusterError};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::timeout};

/// How long a test waits for a state. Paused time makes it short.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// A running cluster.
pub(crate) struct Fixture {
    pub(crate) client: Client,
    pub(crate) cluster: Cluster,
    stop: CancellationToken,
    running: JoinHandle<Result<(), ClusterError>>,
}

impl Fixture {
    /// Starts a cluster and waits until its nodes are ready.
    pub(crate) async fn start(nodes: &[&str], configure: impl FnOnce(ClusterBuilder) -> ClusterBuilder) -> Self {
        Self::on(ApiServer::new().client(), nodes, configure).await
    }

    /// Starts a cluster on the API server of a client, and waits until its nodes are ready.
    pub(crate) async fn on(
        client: Client,
        nodes: &[&str],
        configure: impl FnOnce(ClusterBuilder) -> ClusterBuilder,
    ) -> Self {
        let cluster = configure(Cluster::builder(client.clone())).build().unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (cluster, stop) = (cluster.clone(), stop.clone());
            async move { cluster.run(stop).await }
        });
        for node in nodes {
            cluster.restore(node).await.unwrap();
        }
        Fixture { client, cluster, stop, running }
    }

    /// Starts two zones, `a` with two nodes and `b` with one.
    pub(crate) async fn two_zones() -> Self {
        Self::start(&["a-1", "a-2", "b-1"], |cluster| cluster.zone("a", 2).zone("b", 1)).await
    }

    /// Stops the cluster, which must not have failed.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }

    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub(crate) async fn create<K: ApiObject<Scope = NamespaceResourceScope>>(&self, object: Value) -> K {
        let object = serde_json::from_value(object).unwrap();
        self.api().create(&PostParams::default(), &object).await.unwrap()
    }

    pub(crate) async fn patch<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, patch: Value) -> K {
        self.api().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    /// Waits until all objects of a kind meet a condition, which is called with every state. They are sorted by name.
    pub(crate) async fn wait_for<K>(&self, what: &str, mut condition: impl FnMut(&[Arc<K>]) -> bool) -> Vec<Arc<K>>
    where
        K: ScopedObject + kubewright_core::verbs::List + kubewright_core::verbs::Watch,
    {
        let informer = self.cluster.informers().informer::<K>();
        self.cluster.informers().start();
        let (mut events, store) = (informer.events().unwrap(), informer.store());
        let sorted = || {
            let mut objects = store.list();
            objects.sort_by_key(|object| object.name_any());
            objects
        };
        let met = async {
            loop {
                let objects = sorted();
                if condition(&objects) {
                    return objects;
                }
                events.next().await.expect("the informer runs");
            }
        };
        match timeout(TIMEOUT, met).await {
            Ok(objects) => objects,
            Err(_) => panic!("not reached: {what}: {:#?}", sorted()),
        }
    }

    /// Waits until this number of pods of an app is ready, and no others exist. Returns their names.
    pub(crate) async fn ready_pods(&self, app: &str, number: usize) -> Vec<Arc<Pod>> {
        let what = format!("{number} ready pods of {app}");
        let pods = self.wait_for(&what, |pods| {
            let pods = of_app(pods, app);
            pods.len() == number && pods.iter().all(|pod| is_ready(pod))
        });
        of_app(&pods.await, app)
    }

    /// Creates a Deployment and waits until its pods are ready.
    pub(crate) async fn deploy(&self, name: &str, replicas: i32, more: Value) -> Vec<Arc<Pod>> {
        self.create::<Deployment>(deployment(name, replicas, more)).await;
        self.ready_pods(name, usize::try_from(replicas).unwrap()).await
    }

    /// Waits until a Deployment has a condition with this status and reason.
    pub(crate) async fn condition(&self, name: &str, type_: &str, status: &str, reason: &str) {
        self.wait_for::<Deployment>(&format!("{type_}={status} ({reason}) of {name}"), |deployments| {
            let deployment = deployments.iter().find(|deployment| deployment.name_any() == name);
            let status_of = deployment.and_then(|deployment| deployment.status.as_ref());
            let mut conditions = status_of.into_iter().flat_map(|status| status.conditions.iter().flatten());
            conditions.any(|condition| {
                condition.type_ == type_ && condition.status == status && condition.reason.as_deref() == Some(reason)
            })
        })
        .await;
    }

    /// Waits until an event with this reason is recorded about an object.
    pub(crate) async fn event(&self, name: &str, reason: &str) {
        self.wait_for::<Event>(&format!("event {reason} of {name}"), |events| {
            let is_about =
                |event: &Event| event.regarding.as_ref().is_some_and(|about| about.name.as_deref() == Some(name));
            events.iter().any(|event| is_about(event) && event.reason.as_deref() == Some(reason))
        })
        .await;
    }

    pub(crate) async fn list<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Vec<K> {
        self.api().list(&ListParams::default()).await.unwrap().items
    }
}

/// Returns a Deployment whose pods have the label `app`, merged with `more`.
pub(crate) fn deployment(name: &str, replicas: i32, more: Value) -> Value {
    let mut deployment = json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template(name),
        },
    });
    merge(&mut deployment, more);
    deployment
}

pub(crate) fn template(app: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "web:1"}]},
    })
}

/// Merges objects recursively; other values are replaced.
pub(crate) fn merge(target: &mut Value, more: Value) {
    match (target, more) {
        (Value::Object(target), Value::Object(more)) => {
            for (key, value) in more {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, more) => *target = more,
    }
}

pub(crate) fn of_app(pods: &[Arc<Pod>], app: &str) -> Vec<Arc<Pod>> {
    pods.iter().filter(|pod| pod.labels().get("app").is_some_and(|found| found == app)).cloned().collect()
}

pub(crate) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    pod.metadata.deletion_timestamp.is_none() && ready.any(|condition| condition.status == "True")
}

pub(crate) fn node(pod: &Pod) -> String {
    pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default()
}

pub(crate) fn names(pods: &[Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.name_any()).collect()
}

/// Returns the reason why the first container of a pod waits.
pub(crate) fn waiting_reason(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?.container_statuses.as_ref()?.first()?;
    status.state.as_ref()?.waiting.as_ref()?.reason.clone()
}
