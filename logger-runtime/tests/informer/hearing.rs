//! The stream of events, and a handler that adds and removes others.

use futures::StreamExt;
use logger_runtime::informer::HandlerOptions;

use crate::world::{World, hear, run, settle, state, synced, told};

#[tokio::test(start_paused = true)]
async fn a_stream_hears_what_a_handler_hears_and_ends_with_the_informer() {
    let world = World::new();
    world.create("a", 1).await;
    let informer = world.informer();
    let mut events = informer.events().unwrap();
    let (cancelled, running) = run(&informer);
    assert_eq!(told(&events.next().await.unwrap()), "add a=1 (initial)");
    world.set("a", 2).await;
    assert_eq!(told(&events.next().await.unwrap()), "update a 1->2");
    world.delete("a").await;
    assert_eq!(told(&events.next().await.unwrap()), "delete a=2");
    cancelled.cancel();
    assert!(events.next().await.is_none());
    running.await.unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_is_removed_and_one_that_is_removed_ends_at_once() {
    let world = World::new();
    let informer = world.following(&["a"]).await;
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
async fn a_stream_of_an_informer_that_is_dropped_before_it_runs_ends() {
    let informer = World::new().informer();
    let mut events = informer.events().unwrap();
    let registration = hear(&informer).registration;
    drop(informer);
    assert!(events.next().await.is_none());
    assert!(registration.is_removed());
    registration.remove().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_add_and_remove_handlers() {
    let world = World::new();
    let informer = world.informer();
    let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let (mut other, adding) = (None, informer.clone());
    let by = informer.add_event_handler(move |event| {
        if event.object().metadata.name.as_deref() == Some("add") {
            let tell = tell.clone();
            other = Some(adding.add_event_handler(move |event| tell.send(told(event)).unwrap()).unwrap());
        } else if let Some(other) = other.take() {
            drop(other.remove());
        }
    });
    synced(&informer).await;
    world.create("add", 1).await;
    assert_eq!(heard.recv().await.as_deref(), Some("add add=1 (initial)"));
    world.create("remove", 1).await;
    settle().await;
    world.create("after", 1).await;
    settle().await;
    assert_ne!(heard.try_recv().as_deref(), Ok("add after=1"));
    assert_eq!(by.unwrap().panics(), 0);
}
