//! The description of a manager: what follows from its runnables.

use std::{net::TcpListener, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::{OperatorDescription, PermissionScope};
use kubewright_manager::{
    LeaderElectionConfig, Manager, Replicas, Runnable,
    manager::BuildError,
    serving::{Router, Server, ServerConfig},
};
use kubewright_runtime::{
    Action, CancellationToken, Controller, InformerFactory, ObjectKey, ReconcileError,
    controller::{Allow, Verb},
};

/// Returns the resources and verbs of the permissions in a scope, sorted.
fn permissions(description: &OperatorDescription, scope: PermissionScope) -> Vec<String> {
    let permissions = description.permissions.iter().filter(|permission| permission.scope == scope);
    let show = |permission: &kubewright_core::description::Permission| {
        let resources = permission.rule.resources.clone().unwrap_or_default().join(",");
        format!("{resources}: {}", permission.rule.verbs.join(","))
    };
    let mut shown: Vec<_> = permissions.map(show).collect();
    shown.sort();
    shown.dedup();
    shown
}

#[tokio::test]
async fn permissions_follow_from_runnables() {
    let client = ApiServer::new().client();
    let factory = InformerFactory::new(client.clone());
    let controller = Controller::new("config-maps", &factory.informer::<ConfigMap>())
        .allow(Allow::<Secret>::verbs([Verb::Get]))
        .build(|_: ObjectKey| async { Ok::<_, ReconcileError>(Action::Done) });
    let manager = Manager::builder(client)
        .leader_election(LeaderElectionConfig::new("mine", "me"))
        .graceful_shutdown_timeout(Duration::from_secs(20))
        .add(Replicas::All, "informers", factory.clone())
        .add(Replicas::Leader, "config-maps", controller);
    // An informer that is requested after its factory was added.
    factory.informer::<Node>();
    let description = manager.describe().unwrap();
    let namespaced = permissions(&description, PermissionScope::Namespaced);
    assert_eq!(namespaced, ["configmaps: get,list,watch", "secrets: get"]);
    assert_eq!(permissions(&description, PermissionScope::Cluster), ["nodes: get,list,watch"]);
    assert_eq!(permissions(&description, PermissionScope::OwnNamespace), ["leases: create", "leases: get,update"]);
    assert_eq!(description.lease.as_deref(), Some("mine"));
    assert_eq!(description.graceful_shutdown_seconds, Some(20));
    assert_eq!(description.controllers[0].name, "config-maps");
}

#[tokio::test]
async fn a_server_that_is_only_described_uses_no_port() {
    let used = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = used.local_addr().unwrap().port();
    let config = || ServerConfig::new("health", port).describes_only(true);
    let manager = Manager::builder(ApiServer::new().client()).serve_health(config());
    let description = manager.describe().unwrap();
    assert_eq!(description.servers[0].port, port);
    assert!(description.servers[0].paths.contains(&"/readyz".to_owned()));
    let server = Server::bind(config(), Router::new()).unwrap();
    let error = Runnable::run(server, CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("described only"), "{error}");
}

#[tokio::test]
async fn a_manager_that_cannot_be_built_has_no_description() {
    let used = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = ServerConfig::new("health", used.local_addr().unwrap().port());
    let manager = Manager::builder(ApiServer::new().client()).serve_health(config);
    assert!(matches!(manager.describe(), Err(BuildError::Server(_))));
}
