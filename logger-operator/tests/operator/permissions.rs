//! The operator under the roles that are rendered from its description: it needs nothing else, and what it never uses
//! has a reason.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header::AUTHORIZATION};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{DaemonSet, Deployment, StatefulSet},
        coordination::v1::Lease,
        networking::v1::NetworkPolicy,
    },
};
use kubewright_apiserver::{ApiServer, Coverage, CoverageReport, Fakeable};
use kubewright_core::{Conditions, description::OperatorDescription};
use kubewright_manager::{
    CancellationToken, LeaderElectionConfig, Manager, ManagerBuilder, Replicas,
    serving::{Authenticated, Authenticator, Handler, MetricsHandler, Router, Server, ServerConfig},
};
use kubewright_project::rbac::{SERVICE_ACCOUNT, operator_objects};
use kubewright_runtime::{
    ApiObject,
    kube::{
        Api, Client,
        api::{DeleteParams, Patch, PatchParams, PostParams},
    },
    metrics::Metrics,
};
use logger_client::Clientset;
use logger_operator::{DEFAULT_LOGGER, OperatorOptions, names::CONTROLLER, operator, reason, status::DEGRADED};
use logger_types::v2::Logger;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::fixture::{IMAGE, child, logger};

/// The namespace of the operator.
const SYSTEM: &str = "logger-system";
/// How long a test waits for a state, and until nothing is pending. Time is paused.
const TIMEOUT: Duration = Duration::from_mins(30);
const QUIET: Duration = Duration::from_mins(2);

/// What the operator declares and never uses:
///
/// - the garbage collector deletes Services; an operator that owns a kind may delete it;
/// - an informer lists and watches; `get` belongs to it by convention, for the reconcilers that read an object live;
/// - only the admission plugin `OwnerReferencesPermissionEnforcement`, which is off by default, checks `finalizers`.
const UNUSED: &str = include_str!("unused_permissions.txt");

/// An API server that authorizes by roles, and an operator that watches one namespace or all of them.
struct Scenario {
    server: ApiServer,
    namespaces: Vec<String>,
    user: String,
    loggers: Api<Logger>,
    deployments: Api<Deployment>,
}

impl Scenario {
    fn new(is_namespaced: bool) -> Self {
        let server = ApiServer::builder().rbac(true).build();
        server.load_yaml(Clientset::DEFINITIONS).unwrap();
        let namespace = if is_namespaced { SYSTEM } else { "default" };
        let namespaces = is_namespaced.then(|| SYSTEM.to_owned()).into_iter().collect();
        let (user, client) = (format!("system:serviceaccount:{SYSTEM}:{SERVICE_ACCOUNT}"), server.client());
        let loggers = Api::namespaced(client.clone(), namespace);
        Scenario { server, namespaces, user, loggers, deployments: Api::namespaced(client, namespace) }
    }

    /// Returns a client of the operator.
    fn client(&self) -> Client {
        self.server.client_as(&self.user, &[])
    }

    fn manager(&self) -> ManagerBuilder {
        let election = LeaderElectionConfig::new(CONTROLLER, "test").namespace(SYSTEM);
        let manager = Manager::builder(self.client()).leader_election(election);
        let options = OperatorOptions { ensure_default_logger: true, ..OperatorOptions::new(IMAGE) };
        operator().add_to(manager, options, self.namespaces.clone(), Metrics::default()).unwrap()
    }

    fn metrics(&self) -> Authenticated<MetricsHandler> {
        Authenticator::new(self.client()).protect(MetricsHandler::from(Metrics::default()))
    }

    fn describe(&self) -> OperatorDescription {
        let router = Router::new().get("/metrics", self.metrics());
        let server = Server::bind(ServerConfig::new("metrics", 8443).describes_only(true), router).unwrap();
        self.manager().add(Replicas::All, "metrics", server).describe().unwrap()
    }

    /// Installs the roles of this description.
    fn install(&self, description: &OperatorDescription) {
        let objects = operator_objects(description, !self.namespaces.is_empty(), SYSTEM);
        objects.iter().for_each(|object| self.server.load(object).unwrap());
    }

    fn report(&self, description: &OperatorDescription) -> CoverageReport {
        let rules = description.permissions.iter().map(|permission| permission.rule.clone());
        let coverage = Coverage::new(&self.user, rules).kind("example.com", "loggers", "Logger");
        coverage.report(&self.server.authorizations())
    }

    /// Runs the operator until `act` has ended and nothing is pending.
    async fn run(&self, act: impl Future<Output = ()>) {
        let (manager, stop) = (self.manager().build().unwrap(), CancellationToken::new());
        let running = tokio::spawn({
            let stop = stop.clone();
            async move { manager.run(stop).await }
        });
        act.await;
        sleep(QUIET).await;
        stop.cancel();
        timeout(TIMEOUT, running).await.expect("the operator stops").unwrap().unwrap();
    }

    async fn create(&self, name: &str) {
        self.loggers.create(&PostParams::default(), &logger(name)).await.unwrap();
    }

    async fn delete(&self, name: &str) {
        self.loggers.delete(name, &DeleteParams::default()).await.unwrap();
    }

    async fn scale(&self, name: &str, replicas: i32) {
        let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        self.loggers.patch(name, &PatchParams::default(), &patch).await.unwrap();
        let expected = if replicas == 0 { reason::NO_REPLICAS } else { reason::AS_DESIRED };
        wait(|| async {
            let logger = self.loggers.get(name).await.unwrap();
            let status = logger.status.unwrap_or_default();
            status.conditions.condition(DEGRADED).is_some_and(|condition| condition.reason == expected)
        })
        .await;
    }

    async fn wait_for_deployment(&self, logger: &str, exists: bool) {
        wait(|| async { self.deployments.get_opt(&child(logger)).await.unwrap().is_some() == exists }).await;
    }

    /// Changes the spec of `audit`, and reports that the new workload is complete, so that the former one is deleted.
    async fn replace_workload<New, Former>(&self, spec: Value, complete: Value)
    where
        New: ApiObject<Scope = NamespaceResourceScope>,
        Former: ApiObject<Scope = NamespaceResourceScope>,
    {
        let patch = Patch::Merge(json!({"spec": spec}));
        self.loggers.patch("audit", &PatchParams::default(), &patch).await.unwrap();
        let namespace = self.loggers.namespace().unwrap();
        let new = Api::<New>::namespaced(self.server.client(), namespace);
        let former = Api::<Former>::namespaced(self.server.client(), namespace);
        wait(|| async { new.get_opt(&child("audit")).await.unwrap().is_some() }).await;
        let status = Patch::Merge(json!({"status": complete}));
        new.patch_status(&child("audit"), &PatchParams::default(), &status).await.unwrap();
        wait(|| async { former.get_opt(&child("audit")).await.unwrap().is_none() }).await;
    }

    /// Changes the workload of `audit` to each kind and back.
    async fn replace_workloads(&self) {
        let nodes = json!({
            "observedGeneration": 1, "desiredNumberScheduled": 0, "currentNumberScheduled": 0, "numberMisscheduled": 0,
            "numberReady": 0,
        });
        self.replace_workload::<DaemonSet, Deployment>(json!({"placement": "PerNode"}), nodes).await;
        let replicas = json!({
            "observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        });
        let claim = json!({"placement": null, "storage": {"volumeClaim": {"size": "1Gi"}}});
        self.replace_workload::<StatefulSet, DaemonSet>(claim, replicas.clone()).await;
        self.replace_workload::<Deployment, StatefulSet>(json!({"storage": null}), replicas).await;
    }

    /// Names peers of `audit`, and none again.
    async fn restrict_clients(&self) {
        let policies = Api::<NetworkPolicy>::namespaced(self.server.client(), self.loggers.namespace().unwrap());
        for (source, exists) in [(json!({"from": [{"podSelector": {}}]}), true), (Value::Null, false)] {
            let patch = Patch::Merge(json!({"spec": {"source": source}}));
            self.loggers.patch("audit", &PatchParams::default(), &patch).await.unwrap();
            wait(|| async { policies.get_opt(&child("audit")).await.unwrap().is_some() == exists }).await;
        }
    }

    async fn wait_for_default_logger(&self) {
        wait(|| async { self.loggers.get_opt(DEFAULT_LOGGER).await.unwrap().is_some() }).await;
    }

    /// Requests the metrics as Prometheus does.
    async fn request_metrics(&self) -> StatusCode {
        let request = Request::get("/metrics").header(AUTHORIZATION, "Bearer token").body(Bytes::new()).unwrap();
        self.metrics().handle(request).await.status()
    }

    /// Everything that the operator does.
    async fn act(&self) {
        self.wait_for_default_logger().await;
        self.create("audit").await;
        self.wait_for_deployment("audit", true).await;
        // The second time, its events are a series.
        for replicas in [0, 2, 0, 2] {
            self.scale("audit", replicas).await;
        }
        self.restrict_clients().await;
        self.replace_workloads().await;
        self.delete("audit").await;
        self.wait_for_deployment("audit", false).await;
        self.delete(DEFAULT_LOGGER).await;
        self.wait_for_default_logger().await;
        let leases = Api::<Lease>::namespaced(self.server.client(), SYSTEM);
        assert!(leases.get_opt(CONTROLLER).await.unwrap().is_some());
        assert_eq!(self.request_metrics().await, StatusCode::OK);
    }
}

/// Waits until a condition holds.
async fn wait<F: Future<Output = bool>>(condition: impl Fn() -> F) {
    let poll = async {
        while !condition().await {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(TIMEOUT, poll).await.expect("the expected state");
}

/// Runs the operator under the roles of its description, and checks that they allow what it does and nothing else.
async fn check_permissions(is_namespaced: bool) {
    let scenario = Scenario::new(is_namespaced);
    let description = scenario.describe();
    scenario.install(&description);
    scenario.run(scenario.act()).await;
    let unused = scenario.report(&description).check().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(unused, UNUSED.lines().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_operator_needs_what_it_declares_and_nothing_else() {
    check_permissions(false).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_of_one_namespace_needs_no_role_in_others() {
    check_permissions(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_is_not_declared_is_reported_with_the_code_to_add() {
    let scenario = Scenario::new(false);
    let mut description = scenario.describe();
    description
        .permissions
        .retain(|permission| permission.rule.resources.iter().flatten().all(|resource| resource != "loggers/status"));
    scenario.install(&description);
    scenario.run(scenario.wait_for_deployment(DEFAULT_LOGGER, true)).await;
    let report = scenario.report(&description).check().unwrap_err();
    let expected = "patch loggers.example.com/status is not declared; add \
                    `.allow(Allow::<Logger>::verbs([Verb::Patch]).status())` to the controller that does it";
    assert_eq!(report.undeclared, [expected]);
}
