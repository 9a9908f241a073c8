//! The stream of events, and handlers that add and remove other handlers.

use futures::StreamExt;
use kubewright_runtime::informer::HandlerOptions;

use super::fixture::{Fixture, describe, record_events, run_until_idle, start, start_synced, state};

#[tokio::test(start_paused = true)]
async fn a_stream_yields_the_events_of_a_handler_and_ends_with_the_informer() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let informer = fixture.informer();
    let mut events = informer.events().unwrap();
    let (cancelled, running) = start(&informer);
    assert_eq!(describe(&events.next().await.unwrap()), "add a=1 (initial)");
    fixture.update("a", 2).await;
    assert_eq!(describe(&events.next().await.unwrap()), "update a 1->2");
    fixture.delete("a").await;
    assert_eq!(describe(&events.next().await.unwrap()), "delete a=2");
    cancelled.cancel();
    assert!(events.next().await.is_none());
    running.await.unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_is_removed_and_a_removed_stream_ends_at_once() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let events = informer.events().unwrap();
    let registration = events.registration();
    drop(events);
    assert!(registration.is_removed());
    registration.wait_for_sync().await.unwrap_err();

    let mut events = informer.events_with(HandlerOptions::new().filter(|map| state(map) == "1")).unwrap();
    assert!(events.next().await.is_some());
    events.registration().remove().await;
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_if_its_informer_is_dropped_before_it_runs() {
    let informer = Fixture::new().informer();
    let mut events = informer.events().unwrap();
    let registration = record_events(&informer).registration;
    drop(informer);
    assert!(events.next().await.is_none());
    assert!(registration.is_removed());
    registration.remove().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_add_and_remove_handlers() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let (mut other, adding) = (None, informer.clone());
    let registration = informer.add_event_handler(move |event| {
        if event.object().metadata.name.as_deref() == Some("add") {
            let sender = sender.clone();
            other = Some(adding.add_event_handler(move |event| sender.send(describe(event)).unwrap()).unwrap());
        } else if let Some(other) = other.take() {
            drop(other.remove());
        }
    });
    start_synced(&informer).await;
    fixture.create("add", 1).await;
    assert_eq!(received.recv().await.as_deref(), Some("add add=1 (initial)"));
    fixture.create("remove", 1).await;
    run_until_idle().await;
    fixture.create("after", 1).await;
    run_until_idle().await;
    assert_ne!(received.try_recv().as_deref(), Ok("add after=1"));
    assert_eq!(registration.unwrap().panics(), 0);
}
