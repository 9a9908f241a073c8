//! The fixture of the tests: a cluster in memory, an operator that runs in it, and writes of other clients.

use std::time::Duration;

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kubewright_apiserver::{Actions, Requests, Verb};
use kubewright_core::Conditions;
use kubewright_manager::{CancellationToken, Manager, ManagerError};
use kubewright_runtime::{
    ApiObject,
    kube::{
        Api, Resource,
        api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    },
    metrics::Metrics,
};
use logger_client::fake;
use logger_operator::{OperatorOptions, operator};
use logger_types::v2::{Logger, LoggerSpec};
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

pub(crate) const IMAGE: &str = "registry.example.com/logger-agent:1.0.0";
pub(crate) const NAMESPACE: &str = "default";
/// How long a test waits for a state. Exceeds every back-off; time is paused.
const TIMEOUT: Duration = Duration::from_mins(30);
/// How long no event occurs until nothing is pending. Exceeds every timeout that requeues a key.
const QUIET: Duration = Duration::from_mins(2);

/// Returns a Logger with two replicas.
pub(crate) fn logger(name: &str) -> Logger {
    Logger {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: LoggerSpec {
            name: format!("{name}-log"),
            interval: "60s".to_owned(),
            replicas: Some(2),
            ..LoggerSpec::default()
        },
        status: None,
    }
}

/// A cluster in memory, whose requests of the operator are recorded.
pub(crate) struct Cluster {
    pub(crate) clientset: fake::Clientset,
}

/// An operator that runs on a task.
pub(crate) struct Operator {
    stop: CancellationToken,
    task: JoinHandle<Result<(), ManagerError>>,
    metrics: Metrics,
}

impl Operator {
    pub(crate) fn start(cluster: &Cluster, options: &OperatorOptions) -> Self {
        let (metrics, stop) = (Metrics::default(), CancellationToken::new());
        let builder = Manager::builder(cluster.clientset.client().clone());
        let builder = operator().add_to(builder, options.clone(), Vec::new(), metrics.clone()).unwrap();
        let manager = builder.build().unwrap();
        let token = stop.clone();
        let task = tokio::spawn(async move { manager.run(token).await });
        Operator { stop, task, metrics }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        timeout(TIMEOUT, self.task).await.expect("the operator stops").unwrap().unwrap();
    }

    /// Ends the operator at its next suspension point, as a crash does.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    /// Returns all metrics as text.
    pub(crate) fn metrics(&self) -> String {
        self.metrics.text()
    }

    /// Returns the value of the time series with this name and these labels; `None` if it does not exist.
    pub(crate) fn metric(&self, name: &str, labels: &[&str]) -> Option<f64> {
        let text = self.metrics.text();
        let is_series =
            |line: &&str| line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label));
        text.lines().find(is_series).and_then(|line| line.rsplit(' ').next()?.parse().ok())
    }

    /// Returns the number of successful reconciliations.
    pub(crate) fn reconciliations(&self) -> f64 {
        let labels = [r#"controller="logger-operator""#, r#"result="success""#];
        self.metric("controller_runtime_reconcile_total", &labels).expect("the series exists from the start")
    }
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Cluster { clientset: fake::Clientset::empty().unwrap() }
    }

    /// Starts an operator with the default options.
    pub(crate) fn operator(&self) -> Operator {
        Operator::start(self, &OperatorOptions::new(IMAGE))
    }

    /// Returns the API of a kind for another client than the operator: its requests are not recorded.
    pub(crate) fn api<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.clientset.server().client(), NAMESPACE)
    }

    pub(crate) async fn create<K: ApiObject<Scope = NamespaceResourceScope>>(&self, object: &K) -> K {
        self.api().create(&PostParams::default(), object).await.unwrap()
    }

    pub(crate) async fn patch<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, patch: Value) {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn patch_status<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str, patch: Value) {
        self.api::<K>().patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn delete<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str) {
        self.api::<K>().delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub(crate) async fn list<K: ApiObject<Scope = NamespaceResourceScope>>(&self) -> Vec<K> {
        self.api().list(&ListParams::default()).await.unwrap().items
    }

    pub(crate) async fn get<K: ApiObject<Scope = NamespaceResourceScope>>(&self, name: &str) -> Option<K> {
        self.api().get_opt(name).await.unwrap()
    }

    /// Waits until an object, or its absence, meets a condition, and returns it.
    pub(crate) async fn wait<K: ApiObject<Scope = NamespaceResourceScope>>(
        &self,
        name: &str,
        condition: impl Fn(Option<&K>) -> bool,
    ) -> Option<K> {
        let poll = async {
            loop {
                let object = self.get::<K>(name).await;
                if condition(object.as_ref()) {
                    return object;
                }
                sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(TIMEOUT, poll).await.unwrap_or_else(|_| panic!("{name} did not reach the expected state"))
    }

    /// Waits until a condition of a Logger has this status and reason.
    pub(crate) async fn wait_for_condition(&self, name: &str, type_: &str, status: &str, reason: &str) -> Logger {
        let holds = |logger: Option<&Logger>| {
            let status_of = logger.and_then(|logger| logger.status.as_ref());
            let condition = status_of.and_then(|status| status.conditions.condition(type_));
            condition.is_some_and(|condition| condition.status == status && condition.reason == reason)
        };
        self.wait(name, holds).await.expect("the condition is that of an existing Logger")
    }

    /// Waits until nothing is pending.
    pub(crate) async fn settle(&self) {
        sleep(QUIET).await;
    }

    /// Creates ready agents from the template of the Deployment of a Logger, and its status, as controllers and
    /// kubelets do.
    pub(crate) async fn run_agents(&self, logger: &str, count: i32) {
        let deployment = self.wait::<Deployment>(&child(logger), |deployment| deployment.is_some()).await.unwrap();
        let owner = self.replica_set(&deployment).await;
        for index in 0..count {
            let mut pod = template(&deployment);
            let name = format!("{}-{index}", child(logger));
            pod.metadata.name = Some(name.clone());
            pod.metadata.owner_references = Some(vec![owner.clone()]);
            self.create(&pod).await;
            self.report_pod(&name, json!({"conditions": [{"type": "Ready", "status": "True"}]})).await;
        }
        let is_observed = |logger: Option<&Logger>| {
            let status = logger.and_then(|logger| logger.status.as_ref());
            status.is_some_and(|status| status.ready_replicas == Some(count))
        };
        self.wait(logger, is_observed).await;
        self.report_rollout(logger, count).await;
    }

    /// Creates the ReplicaSet of a Deployment, unless it exists. Returns a reference to it as a controller.
    async fn replica_set(&self, deployment: &Deployment) -> OwnerReference {
        let name = deployment.metadata.name.clone().unwrap();
        let replica_set = match self.get::<ReplicaSet>(&name).await {
            Some(existing) => existing,
            None => {
                let Deployment { metadata, spec, .. } = deployment.clone();
                let (spec, labels) = (spec.unwrap(), metadata.labels.clone());
                let owner_references = Some(vec![deployment.controller_owner_ref(&()).unwrap()]);
                let metadata = ObjectMeta { name: Some(name), labels, owner_references, ..ObjectMeta::default() };
                let spec =
                    ReplicaSetSpec { selector: spec.selector, template: Some(spec.template), ..Default::default() };
                self.create(&ReplicaSet { metadata, spec: Some(spec), status: None }).await
            }
        };
        replica_set.controller_owner_ref(&()).unwrap()
    }

    /// Reports that all agents of a Deployment are up to date and available.
    pub(crate) async fn report_rollout(&self, logger: &str, count: i32) {
        let deployment = self.get::<Deployment>(&child(logger)).await.unwrap();
        let status = json!({"status": {
            "observedGeneration": deployment.metadata.generation, "replicas": count, "updatedReplicas": count,
            "readyReplicas": count, "availableReplicas": count,
        }});
        let api = self.api::<Deployment>();
        api.patch_status(&child(logger), &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }

    /// Sets the status of a Pod.
    pub(crate) async fn report_pod(&self, name: &str, status: Value) {
        let status = Patch::Merge(json!({"status": status}));
        self.api::<Pod>().patch_status(name, &PatchParams::default(), &status).await.unwrap();
    }

    /// Returns the writes of the operator, without those of events.
    pub(crate) fn writes(&self) -> Vec<String> {
        let actions: Actions = self.clientset.actions();
        let events = actions.matching(Requests::to("events")).writes().len();
        let writes = actions.writes();
        let described: Vec<_> = writes
            .iter()
            .filter(|action| action.resource() != "events")
            .map(|action| {
                format!("{:?} {}/{} {}", action.verb(), action.resource(), action.info.subresource, action.name())
            })
            .collect();
        assert_eq!(described.len() + events, writes.len());
        described
    }

    /// Returns the reasons of the recorded events about an object, in order.
    pub(crate) fn event_reasons(&self, name: &str) -> Vec<String> {
        let created = self.clientset.actions().matching(Requests::to("events").verb(Verb::Create));
        let bodies = created.iter().map(|action| action.json().unwrap());
        let about = bodies.filter(|event| event["regarding"]["name"] == name);
        about.map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns the name of the children of a Logger.
pub(crate) fn child(logger: &str) -> String {
    format!("logger-{logger}")
}

fn template(deployment: &Deployment) -> Pod {
    let template = &deployment.spec.as_ref().unwrap().template;
    Pod { metadata: template.metadata.clone().unwrap(), spec: template.spec.clone(), status: None }
}
