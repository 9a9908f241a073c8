//! The generated informer factory and listers.

use std::time::Duration;

use kube::Client;
use kube::api::{DeleteParams, ListParams, PostParams};
use logger_client::{Clientset, SharedInformerFactory};
use logger_runtime::{Event, ObjectKey};
use logger_types::v1::Logger;
use tokio::sync::mpsc;

use crate::{logger, namespace};

const PATIENCE: Duration = Duration::from_secs(20);

/// `add default/audit (initial)`, `update ..`, `delete ..`
fn told(event: &Event<Logger>) -> String {
    let key = ObjectKey::of(event.object().as_ref());
    match event {
        Event::Added { initial: true, .. } => format!("add {key} (initial)"),
        Event::Added { .. } => format!("add {key}"),
        Event::Updated { old, new } => format!("update {key} {}->{}", old.spec.time_interval, new.spec.time_interval),
        Event::Deleted { .. } => format!("delete {key}"),
    }
}

/// What a handler of this informer hears, in order.
fn hear(informer: &logger_client::informers::example_v1::LoggerInformer) -> mpsc::UnboundedReceiver<String> {
    let (tell, heard) = mpsc::unbounded_channel();
    informer.add_event_handler(move |event| drop(tell.send(told(event)))).expect("it has not stopped");
    heard
}

async fn next(heard: &mut mpsc::UnboundedReceiver<String>) -> String {
    tokio::time::timeout(PATIENCE, heard.recv()).await.expect("the handler hears of it").expect("the informer runs")
}

pub(super) async fn informers_follow_from_the_start_and_listers_read(client: Client) {
    let namespace = namespace(&client, "informer").await;
    let clientset = Clientset::new(client);
    let loggers = clientset.example_v1().loggers(&namespace);
    loggers.create(&logger("early"), &PostParams::default()).await.unwrap();
    // What the server has in memory, which informers list, is now as new as this list.
    loggers.list(&ListParams::default()).await.unwrap();

    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v1().loggers();
    let mut heard = hear(&informer);
    assert!(!informer.has_synced());
    factory.start();
    factory.wait_for_sync(PATIENCE).await.unwrap();
    assert_eq!(next(&mut heard).await, "add informer/early (initial)");

    let mut late = loggers.create(&logger("late"), &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut heard).await, "add informer/late");
    late.spec.time_interval = 7;
    loggers.update(&late, &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut heard).await, "update informer/late 60->7");

    let lister = factory.example_v1().loggers().lister().namespace(&namespace);
    assert_eq!(lister.get("late").unwrap().spec.time_interval, 7, "the store changed before the handler heard");
    assert_eq!(lister.list().len(), 2);
    let missing = lister.get("nobody").unwrap_err();
    assert_eq!(missing.to_string(), "loggers.example.com \"nobody\" not found in namespace \"informer\"");

    loggers.delete("early", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut heard).await, "delete informer/early");
    factory.shutdown().await;
}

pub(super) async fn late_handlers_hear_of_everything(client: Client) {
    let namespace = namespace(&client, "late-handler").await;
    let clientset = Clientset::new(client);
    let loggers = clientset.example_v1().loggers(&namespace);
    let factory = SharedInformerFactory::namespaced(&clientset, &namespace);
    let informer = factory.example_v1().loggers();
    factory.start();
    factory.wait_for_sync(PATIENCE).await.unwrap();
    let mut first = hear(&informer);
    for name in ["a", "b"] {
        loggers.create(&logger(name), &PostParams::default()).await.unwrap();
        next(&mut first).await;
    }
    let mut late = hear(&informer);
    let mut replayed = [next(&mut late).await, next(&mut late).await];
    replayed.sort();
    assert_eq!(replayed, ["add late-handler/a (initial)", "add late-handler/b (initial)"]);
    loggers.create(&logger("c"), &PostParams::default()).await.unwrap();
    assert_eq!(next(&mut late).await, "add late-handler/c");
    factory.shutdown().await;
}
