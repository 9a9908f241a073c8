//! The guarantees of operators: what they consist of without a declaration, and their command line.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and test helpers are part of them")]

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::{core::v1::ConfigMap, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_manager::{Manager, Operator, operator::NoOptions};
use kubewright_runtime::{ReconcileContext, ReconcileError, metrics::Metrics};
use tokio::time::{sleep, timeout};

async fn reconcile(map: Arc<ConfigMap>, ctx: ReconcileContext) -> Result<(), ReconcileError> {
    ctx.event(&*map, "Reconciled", "a note");
    Ok(())
}

fn operator() -> Operator {
    Operator::new("test-operator")
        .controller(|setup| setup.controller::<ConfigMap>("configmaps").reconcile(reconcile).build())
}

async fn create(api: &Api<ConfigMap>, name: &str) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    api.create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn events_need_no_declaration_and_are_written_before_the_end() {
    let client = ApiServer::new().client();
    create(&Api::namespaced(client.clone(), "default"), "a").await;
    let running = operator().start(&client).unwrap();
    let events: Api<Event> = Api::namespaced(client, "default");
    let written = async {
        while events.list(&ListParams::default()).await.unwrap().items.is_empty() {
            sleep(Duration::from_secs(1)).await;
        }
    };
    timeout(Duration::from_secs(60), written).await.unwrap();
    running.stop().await.unwrap();
    let event = events.list(&ListParams::default()).await.unwrap().items.remove(0);
    assert_eq!(event.reporting_controller.as_deref(), Some("test-operator"));
    assert_eq!(event.reason.as_deref(), Some("Reconciled"));
}

#[tokio::test]
async fn a_manager_gets_the_parts_of_an_operator_and_no_servers() {
    let client = ApiServer::new().client();
    let manager = Manager::builder(client);
    let manager = operator().add_to(manager, NoOptions {}, vec!["a".to_owned()], Metrics::default()).unwrap();
    let description = manager.describe().unwrap();
    assert_eq!(description.controllers[0].name, "configmaps");
    assert_eq!(description.informers[0].namespaces, ["a"]);
    assert!(description.servers.is_empty() && description.lease.is_none());
}
