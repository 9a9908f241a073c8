//! The event recorder: events of custom and built-in kinds, series, and events that no longer exist.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use k8s_openapi::api::{core::v1::Namespace, events::v1::Event};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, WatchEvent, WatchParams},
};
use kubewright_runtime::{
    CancellationToken, EventRecorder, EventType,
    events::{EventConfig, EventWorker, NewEvent},
};
use logger_client::Clientset;
use logger_types::v2::Logger;

use crate::{logger, namespace};

const TIMEOUT: Duration = Duration::from_secs(30);

fn recorder(client: &Client) -> (EventRecorder, EventWorker) {
    let config = EventConfig::default().flush_timeout(TIMEOUT);
    EventRecorder::new(client.clone(), "scenario", config).expect("a qualified name")
}

async fn create(client: &Client, namespace: &str) -> Logger {
    let loggers = Clientset::new(client.clone()).example_v2().loggers(namespace);
    loggers.create(&logger("web"), &Default::default()).await.unwrap()
}

/// Watches the events of a namespace, from its beginning.
async fn watch(api: &Api<Event>) -> BoxStream<'static, kube::Result<WatchEvent<Event>>> {
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    api.watch(&WatchParams::default(), &version).await.unwrap().boxed()
}

/// Returns the event that is written next.
async fn next(events: &mut BoxStream<'static, kube::Result<WatchEvent<Event>>>) -> Event {
    let next = tokio::time::timeout(TIMEOUT, events.try_next()).await.expect("an event is written").unwrap();
    match next.expect("the watch continues") {
        WatchEvent::Added(event) | WatchEvent::Modified(event) => event,
        other => panic!("expected an addition or a modification: {other:?}"),
    }
}

fn count(event: &Event) -> Option<i32> {
    event.series.as_ref().map(|series| series.count)
}

pub(super) async fn repeated_events_are_one_series(client: Client) {
    let namespace = namespace(&client, "event-series").await;
    let web = create(&client, &namespace).await;
    let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
    let mut written = watch(&events).await;
    let (recorder, worker) = recorder(&client);
    let stop = CancellationToken::new();
    let running = tokio::spawn(worker.run(stop.clone()));
    let record = || recorder.event(&web, EventType::Warning, "FailedMount", "Mounting", "no volume");

    record();
    let first = next(&mut written).await;
    assert_eq!((first.note.as_deref(), count(&first)), (Some("no volume"), None));
    let regarding = first.regarding.as_ref().unwrap();
    assert_eq!((regarding.api_version.as_deref(), regarding.kind.as_deref()), (Some("example.com/v2"), Some("Logger")));
    assert_eq!((&regarding.name, &regarding.uid), (&web.metadata.name, &web.metadata.uid));
    record();
    let second = next(&mut written).await;
    assert_eq!((&second.metadata.uid, count(&second)), (&first.metadata.uid, Some(2)));

    events.delete(first.metadata.name.as_deref().unwrap(), &DeleteParams::default()).await.unwrap();
    record();
    stop.cancel();
    running.await.unwrap().unwrap();
    let last = events.list(&ListParams::default()).await.unwrap().items.remove(0);
    assert_eq!((&last.metadata.name, count(&last)), (&first.metadata.name, Some(3)), "it is created again");
    assert_ne!(last.metadata.uid, first.metadata.uid);
}

pub(super) async fn recorded_events_are_valid(client: Client) {
    let name = namespace(&client, "event-validity").await;
    let web = create(&client, &name).await;
    let namespace: Namespace = Api::all(client.clone()).get(&name).await.unwrap();
    let (recorder, worker) = recorder(&client);

    let (word, note) = ("é".repeat(100), "語".repeat(1000));
    recorder.event(&web, EventType::Normal, &word, &word, &note);
    recorder.event(&web, EventType::Normal, "", "", "");
    recorder.event_about(&web, &namespace, EventType::Normal, "Created", "Creating", "created");
    let mut unnamed = web.object_ref(&());
    unnamed.name = Some("Not A Name".to_owned());
    recorder.record(NewEvent::new(unnamed, EventType::Warning, "Unnamed", "Naming", "no name").series_key("names"));
    // Further notes are combined.
    (1..=12).for_each(|attempt| recorder.event(&web, EventType::Warning, "Failed", "Writing", format!("{attempt}")));
    recorder.event(&namespace, EventType::Normal, "Created", "Creating", "cluster-scoped");
    // Everything is flushed.
    let stop = CancellationToken::new();
    stop.cancel();
    worker.run(stop).await.unwrap();

    let events: Api<Event> = Api::namespaced(client.clone(), &name);
    let events = events.list(&ListParams::default()).await.unwrap().items;
    let notes: Vec<_> = events.iter().map(|event| event.note.as_deref().unwrap_or_default()).collect();
    assert_eq!(events.len(), 4 + 11, "{notes:?}");
    let cut = notes.iter().find(|note| note.starts_with('語')).unwrap();
    assert_eq!(cut.len(), 1023);
    let combined = events.iter().find(|event| event.note.as_deref().unwrap_or_default().starts_with("(combined"));
    assert_eq!(combined.and_then(count), Some(2));
    let related = events.iter().find_map(|event| event.related.clone()).unwrap();
    assert_eq!((related.kind.as_deref(), related.name), (Some("Namespace"), Some(name.clone())));

    let about = ListParams::default().fields(&format!("regarding.name={name},regarding.kind=Namespace"));
    let elsewhere: Api<Event> = Api::namespaced(client, "default");
    assert_eq!(elsewhere.list(&about).await.unwrap().items.len(), 1, "in the namespace `default`");
}
