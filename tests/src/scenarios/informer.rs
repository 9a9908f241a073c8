//! The generated informer factory and listers.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResource, CustomResourceExt,
    api::{DeleteParams, ListParams, PostParams},
    runtime::wait::{await_condition, conditions},
};
use kubewright_runtime::{
    CancellationToken, Event, ObjectKey, SharedInformer, informer::Config, reflector::ExponentialBackoff,
};
use logger_client::{Clientset, SharedInformerFactory};
use logger_types::v2::Logger;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{sync::mpsc, time::timeout};

use crate::{install, logger, namespace};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Describes an event: `add default/audit (initial)`, `update ..`, `delete ..`.
fn describe(event: &Event<Logger>) -> String {
    let key = ObjectKey::from_object(event.object().as_ref());
    match event {
        Event::Added { initial: true, .. } => format!("add {key} (initial)"),
        Event::Added { .. } => format!("add {key}"),
        Event::Updated { old, new } => format!("update {key} {}->{}", old.spec.interval, new.spec.interval),
        Event::Deleted { .. } => format!("delete {key}"),
    }
}

/// Adds a handler and returns a channel of the events that it receives, in order.
fn subscribe(informer: &logger_client::informers::example_v2::LoggerInformer) -> mpsc::UnboundedReceiver<String> {
    let (sender, events) = mpsc::unbounded_channel();
    informer.add_event_handler(move |event| drop(sender.send(describe(event)))).expect("the informer has not stopped");
    events
}

async fn next(events: &mut mpsc::UnboundedReceiver<String>) -> String {
    timeout(TIMEOUT, events.recv()).await.expect("the handler receives an event").expect("the informer runs")
}

pub(super) async fn informers_deliver_events_and_listers_read_the_store(client: Client) {
    let namespace = namespace(&client, "informer").await;
    let clientset = Clientset::new(client);
    let loggers = clientset.example_v2().loggers(&namespace);
    loggers.create(&logger("early"), &PostParams::default()).await.unwrap();
    // The watch cache, which informers list from, is now as recent as this list.
    loggers.list(&ListParams::default()).await.unwrap();

    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v2().loggers();
    let mut events = subscribe(&informer);
    assert!(!informer.has_synced());
    factory.start();
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    assert_eq!(next(&mut events).await, "add informer/early (initial)");

    let mut late = loggers.create(&logger("late"), &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut events).await, "add informer/late");
    late.spec.interval = "7s".to_owned();
    loggers.update(&late, &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut events).await, "update informer/late 1m->7s");

    let lister = factory.example_v2().loggers().lister().namespace(&namespace);
    assert_eq!(lister.get("late").unwrap().spec.interval, "7s", "the store is updated before handlers are notified");
    assert_eq!(lister.list().len(), 2);
    let missing = lister.get("nobody").unwrap_err();
    assert_eq!(missing.to_string(), "loggers.example.com \"nobody\" not found in namespace \"informer\"");

    loggers.delete("early", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut events).await, "delete informer/early");
    factory.shutdown().await;
}

pub(super) async fn late_handlers_receive_existing_objects(client: Client) {
    let namespace = namespace(&client, "late-handler").await;
    let clientset = Clientset::new(client);
    let loggers = clientset.example_v2().loggers(&namespace);
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v2().loggers();
    factory.start();
    factory.wait_for_sync(TIMEOUT).await.unwrap();
    let mut first = subscribe(&informer);
    for name in ["a", "b"] {
        loggers.create(&logger(name), &PostParams::default()).await.unwrap();
        next(&mut first).await;
    }
    let mut late = subscribe(&informer);
    let mut replayed = [next(&mut late).await, next(&mut late).await];
    replayed.sort();
    assert_eq!(replayed, ["add late-handler/a (initial)", "add late-handler/b (initial)"]);
    loggers.create(&logger("c"), &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut late).await, "add late-handler/c");
    factory.shutdown().await;
}

/// A kind that only one scenario installs.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "optional.example.org", version = "v1", kind = "Plugin", namespaced)]
struct PluginSpec {
    path: String,
}

pub(super) async fn an_optional_kind_is_empty_until_it_is_installed_and_after_it_is_removed(client: Client) {
    let namespace = namespace(&client, "optional").await;
    let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_millis(200));
    let api = Api::<Plugin>::namespaced(client.clone(), &namespace);
    let config = Config::default().reflector(|reflector| reflector.optional().backoff(backoff));
    let (plugins, stop) = (SharedInformer::with_config([api.clone()], config), CancellationToken::new());
    let store = plugins.store();
    let running = tokio::spawn({
        let (plugins, stop) = (plugins.clone(), stop.clone());
        async move { plugins.run(stop).await }
    });
    plugins.wait_for_sync_within(TIMEOUT).await.unwrap();
    assert!(store.is_empty());

    // The informer follows without a restart, however often the definition is installed and removed.
    for round in ["first", "second"] {
        install(&client, [Plugin::crd()]).await;
        let plugin = Plugin::new(round, PluginSpec { path: "/plugin".to_owned() });
        api.create(&PostParams::default(), &plugin).await.unwrap();
        let key = ObjectKey::namespaced(&namespace, round);
        timeout(TIMEOUT, store.wait_until(&key, |plugin| plugin.is_some())).await.unwrap().unwrap();
        let definitions = Api::<CustomResourceDefinition>::all(client.clone());
        let uid = definitions.get(Plugin::crd_name()).await.unwrap().metadata.uid.unwrap();
        definitions.delete(Plugin::crd_name(), &DeleteParams::default()).await.unwrap();
        timeout(TIMEOUT, store.wait_until(&key, |plugin| plugin.is_none())).await.unwrap().unwrap();
        let removed = await_condition(definitions, Plugin::crd_name(), conditions::is_deleted(&uid));
        timeout(TIMEOUT, removed).await.unwrap().unwrap();
    }
    stop.cancel();
    timeout(TIMEOUT, running).await.unwrap().unwrap().unwrap();
}
