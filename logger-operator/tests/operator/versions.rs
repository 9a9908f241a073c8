//! Loggers of `v1`: those of the released definition are readable after an upgrade, and agents run for them.

use k8s_openapi::{api::apps::v1::Deployment, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kubewright_apiserver::ApiServer;
use kubewright_core::description::WebhookNames;
use kubewright_manager::crds::Definitions;
use kubewright_runtime::kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use logger_operator::{
    DEFINITIONS,
    names::{CONTROLLER, CRDS_FIELD_MANAGER},
    webhooks::{convert, webhooks},
};
use logger_types::{v1, v2};
use serde_json::{Value, json};

use crate::fixture::{Cluster, NAMESPACE, child};

/// Returns the definition of release 0.1.0, in which `v1` is the only version.
fn released() -> Value {
    let mut definition: Value = serde_saphyr::from_str(DEFINITIONS).unwrap();
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions.retain(|version| version["name"] == "v1");
    versions[0]["storage"] = json!(true);
    definition
}

/// Applies the current definition as the program of the operator does.
async fn upgrade(server: &ApiServer) {
    let (conversions, names) = (webhooks().describe().conversion_webhooks, WebhookNames::new(CONTROLLER));
    let definitions = Definitions::parse(DEFINITIONS).unwrap().convert(&conversions, "system", &names, None);
    let plan = definitions.plan(server.client()).await.unwrap();
    plan.apply(CRDS_FIELD_MANAGER, false).await.expect("no change is breaking");
}

fn logger_of_v1() -> v1::Logger {
    v1::Logger {
        metadata: ObjectMeta { name: Some("audit".to_owned()), ..ObjectMeta::default() },
        spec: v1::LoggerSpec { name: "audit".to_owned(), time_interval: 90, replicas: Some(2) },
        status: None,
    }
}

#[tokio::test(start_paused = true)]
async fn loggers_of_v1_are_readable_after_an_upgrade() {
    let server = ApiServer::new();
    server.load(&released()).unwrap();
    let old = Api::<v1::Logger>::namespaced(server.client(), NAMESPACE);
    let created = old.create(&PostParams::default(), &logger_of_v1()).await.unwrap();
    server.convert("Logger.example.com", convert());
    upgrade(&server).await;

    let new = Api::<v2::Logger>::namespaced(server.client(), NAMESPACE);
    let read = new.get("audit").await.unwrap();
    assert_eq!((read.spec.interval.as_str(), read.spec.replicas), ("90s", Some(2)));
    assert_eq!(read.metadata.uid, created.metadata.uid);
    // The first application does not migrate objects: the next one does.
    upgrade(&server).await;
    assert_eq!(new.get("audit").await.unwrap().spec, read.spec);

    let patch = Patch::Merge(json!({"spec": {"durability": "Record"}}));
    new.patch("audit", &PatchParams::default(), &patch).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"timeInterval": 60}}));
    old.patch("audit", &PatchParams::default(), &patch).await.unwrap();
    let read = new.get("audit").await.unwrap().spec;
    assert_eq!((read.interval.as_str(), read.durability), ("60s", Some(v2::LoggerDurability::Record)));
}

#[tokio::test(start_paused = true)]
async fn agents_run_for_loggers_of_v1() {
    let cluster = Cluster::new();
    let server = cluster.clientset.server();
    server.convert("Logger.example.com", convert());
    upgrade(server).await;
    cluster.create(&logger_of_v1()).await;
    let operator = cluster.operator();
    let deployment: Deployment = cluster.wait(&child("audit"), |found| found.is_some()).await.unwrap();
    let text = serde_json::to_string(&deployment.spec).unwrap();
    assert!(text.contains(r#"{"name":"LOGGER_TIME_INTERVAL","value":"90s"}"#), "{text}");
    operator.stop().await;
}
