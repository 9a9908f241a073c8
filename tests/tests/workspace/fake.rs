//! The generated fake clientsets: real clientsets on a server in memory that stores the initial objects of a test.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, PostParams},
    runtime::{Controller, WatchStreamExt, controller::Action, watcher},
};
use kubewright_apiserver::{Fault, Reaction, Requests, Verb};
use kubewright_core::Object;
use logger_client::{SharedInformerFactory, fake};
use logger_types::v2::{Logger, LoggerState, LoggerStatus};
use tokio::sync::mpsc;

const TIMEOUT: Duration = Duration::from_secs(60);

fn logger(namespace: &str, name: &str) -> Logger {
    let mut logger = tests::logger(name);
    logger.metadata.namespace = Some(namespace.to_owned());
    logger
}

fn logger_with_status(namespace: &str, name: &str) -> Logger {
    let status = LoggerStatus { state: Some(LoggerState::Available), ..LoggerStatus::default() };
    Logger { status: Some(status), ..logger(namespace, name) }
}

#[tokio::test(start_paused = true)]
async fn initial_objects_are_stored_unchanged() {
    let mut object = logger_with_status("prod", "audit");
    object.metadata.uid = Some("11111111-2222-3333-4444-555555555555".to_owned());
    object.metadata.generation = Some(7);
    object.metadata.finalizers = Some(vec!["example.com/close".to_owned()]);
    let clientset = fake::Clientset::new([object.clone()]).unwrap();
    let read = clientset.example_v2().loggers("prod").get("audit").await.unwrap();
    assert_eq!((&read.spec, &read.status), (&object.spec, &object.status));
    assert_eq!((read.metadata.uid, read.metadata.generation), (object.metadata.uid, Some(7)));
    assert_eq!(read.metadata.finalizers, object.metadata.finalizers);
    assert!(read.metadata.resource_version.is_some() && read.metadata.creation_timestamp.is_some());
    let namespaces: Api<Namespace> = Api::all(clientset.client().clone());
    assert!(namespaces.get_opt("prod").await.unwrap().is_some(), "their namespaces are created");
}

#[tokio::test(start_paused = true)]
async fn initial_objects_can_be_of_several_kinds() {
    let config = ConfigMap {
        metadata: ObjectMeta { name: Some("rates".into()), ..Default::default() },
        data: Some([("every".to_owned(), "7".to_owned())].into()),
        ..Default::default()
    };
    let objects: [Box<dyn Object>; 2] = [Box::new(logger("prod", "audit")), Box::new(config.clone())];
    let clientset = fake::Clientset::new(objects).unwrap();
    assert_eq!(clientset.example_v2().all_loggers().list(&Default::default()).await.unwrap().items.len(), 1);
    let config_maps: Api<ConfigMap> = Api::namespaced(clientset.client().clone(), "default");
    assert_eq!(config_maps.get("rates").await.unwrap().data, config.data);
}

#[tokio::test(start_paused = true)]
async fn stale_and_invalid_writes_are_rejected() {
    let clientset = fake::Clientset::new([logger("default", "audit")]).unwrap();
    let loggers = clientset.example_v2().loggers("default");
    let first = loggers.get("audit").await.unwrap();
    let mut second = first.clone();
    second.spec.interval = "61s".to_owned();
    loggers.update(&second, &PostParams::default()).await.unwrap();
    let stale = loggers.update(&first, &PostParams::default()).await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");
    let mut invalid = logger("default", "bad");
    invalid.spec.interval = "-1s".to_owned();
    let rejected = loggers.create(&invalid, &PostParams::default()).await.unwrap_err();
    assert!(rejected.is_invalid(), "{rejected}");
}

#[tokio::test(start_paused = true)]
async fn invalid_initial_objects_are_reported_with_the_reason() {
    let mut invalid = logger("default", "bad");
    invalid.spec.interval = "-1s".to_owned();
    let error = fake::Clientset::new([invalid]).unwrap_err().to_string();
    assert!(error.starts_with("Logger default/bad cannot be loaded: "), "{error}");
    assert!(error.contains("spec.interval"), "{error}");
    let duplicate =
        fake::Clientset::new([logger("default", "audit"), logger("default", "audit")]).unwrap_err().to_string();
    assert!(duplicate.contains("already exists"), "{duplicate}");
    let unknown = serde_json::json!({"apiVersion": "example.com/v2", "kind": "Loger", "metadata": {"name": "audit"}});
    let unknown = fake::Clientset::new([unknown]).unwrap_err().to_string();
    assert_eq!(unknown, "Loger audit cannot be loaded: kind \"Loger\" of \"example.com/v2\" is not served");
}

/// Go's fake clientset loses this event: kubernetes/kubernetes#141528.
#[tokio::test(start_paused = true)]
async fn f06_a_deletion_between_list_and_watch_is_delivered() {
    let clientset = fake::Clientset::new([logger("default", "audit")]).unwrap();
    let loggers: Api<Logger> = Api::namespaced(clientset.client().clone(), "default");
    let listed = loggers.list(&Default::default()).await.unwrap();
    loggers.delete("audit", &DeleteParams::default()).await.unwrap();
    let version = listed.metadata.resource_version.unwrap();
    let mut events = loggers.watch(&Default::default(), &version).await.unwrap().boxed();
    let event = tokio::time::timeout(TIMEOUT, events.try_next()).await.unwrap().unwrap();
    assert!(matches!(event, Some(kube::core::WatchEvent::Deleted(gone)) if gone.name_any() == "audit"));
}

#[tokio::test(start_paused = true)]
async fn actions_are_recorded_and_faults_and_reactors_answer() {
    let clientset = fake::Clientset::new([logger("default", "audit")]).unwrap();
    let loggers = clientset.example_v2().loggers("default");
    loggers.create(&logger("default", "second"), &PostParams::default()).await.unwrap();
    loggers.delete("audit", &DeleteParams::default()).await.unwrap();
    let actions = clientset.actions();
    let created: Vec<_> = actions.creates::<Logger>().unwrap().iter().map(ResourceExt::name_any).collect();
    assert_eq!((created, actions.deletes::<Logger>()), (vec!["second".to_owned()], vec!["audit".to_owned()]));

    clientset.faults().once(Verb::Get, Fault::status(503, "ServiceUnavailable", "later"));
    assert_eq!(loggers.get("second").await.unwrap_err().status().unwrap().code, 503);
    assert!(loggers.get("second").await.is_ok());
    clientset.reactors().prepend(Requests::to("loggers").verb(Verb::Update), |_| {
        Reaction::reject(409, "Conflict", "somebody was quicker")
    });
    let second = loggers.get("second").await.unwrap();
    assert!(loggers.update(&second, &PostParams::default()).await.unwrap_err().is_conflict());
}

#[tokio::test(start_paused = true)]
async fn generated_informers_run_on_a_fake() {
    let clientset = fake::Clientset::new([logger("default", "audit")]).unwrap();
    let factory = SharedInformerFactory::new(&clientset);
    let informer = factory.example_v2().loggers();
    factory.start();
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    assert!(informer.lister().namespace("default").get("audit").is_ok());
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn kubes_watcher_and_controller_run_on_a_fake() {
    let clientset = fake::Clientset::new([logger("default", "audit")]).unwrap();
    let loggers: Api<Logger> = Api::all(clientset.client().clone());
    let mut seen = watcher(loggers.clone(), watcher::Config::default()).applied_objects().boxed();
    assert_eq!(seen.try_next().await.unwrap().unwrap().name_any(), "audit");
    let (reconciled, mut names) = mpsc::unbounded_channel();
    let reconcile = move |logger: Arc<Logger>, _: Arc<()>| {
        let reconciled = reconciled.clone();
        async move {
            drop(reconciled.send(logger.name_any()));
            Ok::<_, std::convert::Infallible>(Action::await_change())
        }
    };
    let controller = Controller::new(loggers, watcher::Config::default())
        .run(reconcile, |_, _, _| Action::await_change(), Arc::new(()))
        .for_each(|_| async {});
    let running = tokio::spawn(controller);
    assert_eq!(tokio::time::timeout(TIMEOUT, names.recv()).await.unwrap().as_deref(), Some("audit"));
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_fake_of_several_groups_serves_all_of_them() {
    let clientset = fixture_client::fake::Clientset::empty().unwrap();
    let crds: Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
        Api::all(clientset.client().clone());
    let served = crds.list(&Default::default()).await.unwrap();
    assert_eq!(served.items.len(), tests::crds().len() - 1, "all except the reference API's");
}
