//! Handlers that do not keep up: nobody waits for them, and what waits for them does not grow.

use std::sync::mpsc::{Sender, channel};

use futures::StreamExt;
use logger_runtime::informer::{Delivery, HandlerOptions, OnPanic, Overflow, SharedInformer};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::yield_now;

use crate::world::{Heard, World, hear, hear_as, run, settle, synced, told};

type Map = k8s_openapi::api::core::v1::ConfigMap;

/// Lets a handler go on that blocks its thread with each event, and tells when it is in a call. While it is, the paused clock
/// does not move.
struct Gate {
    open: Sender<Result<(), ()>>,
    entered: UnboundedReceiver<()>,
}

impl Gate {
    fn let_go(&self) {
        self.open.send(Ok(())).unwrap();
    }

    fn let_panic(&self) {
        self.open.send(Err(())).unwrap();
    }

    async fn is_entered(&mut self) {
        self.entered.recv().await.unwrap();
    }
}

/// A handler that blocks its thread with each event until it is let go on.
fn blocked(informer: &SharedInformer<Map>) -> (Gate, Heard) {
    let ((open, gate), (enter, entered)) = (channel::<Result<(), ()>>(), unbounded_channel());
    let heard = hear_as(informer, HandlerOptions::new().blocking(), move |event| {
        let _ = enter.send(());
        match gate.recv() {
            Ok(Err(())) => panic!("it fails"),
            _ => told(event),
        }
    });
    (Gate { open, entered }, heard)
}

#[tokio::test(start_paused = true)]
async fn i04_i23_a_handler_that_blocks_delays_nobody_and_is_called_once_at_a_time() {
    let world = World::new();
    let informer = world.following(&["a"]).await;
    let (mut gate, mut slow) = blocked(&informer);
    let mut quick = hear(&informer);
    quick.these(&["add a=1 (initial)"]).await;
    gate.is_entered().await;
    for state in 2..100 {
        world.set("a", state).await;
        quick.these(&[&format!("update a {}->{state}", state - 1)]).await;
    }
    assert_eq!(slow.now(), [""; 0]);
    assert_eq!(slow.registration.pending(), 1, "however often the object changed");
    gate.let_go();
    slow.these(&["add a=1 (initial)"]).await;
    gate.let_go();
    slow.these(&["update a 1->99"]).await;
}

#[tokio::test(start_paused = true)]
async fn i06_a_handler_has_synced_when_it_returned_from_its_last_initial_object() {
    let world = World::new();
    let informer = world.following(&["a", "b"]).await;
    let (mut gate, mut slow) = blocked(&informer);
    let quick = hear(&informer);
    quick.registration.wait_for_sync().await.unwrap();
    gate.is_entered().await;
    gate.let_go();
    gate.is_entered().await;
    slow.next().await;
    assert!(informer.has_synced(), "the informer does not wait for it");
    assert_eq!((slow.registration.has_synced(), slow.registration.pending()), (false, 0), "it is in its last call");
    gate.let_go();
    slow.registration.wait_for_sync().await.unwrap();
    assert!(slow.registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i06_where_nothing_is_there_a_handler_has_synced_at_once() {
    let world = World::new();
    let informer = world.informer();
    let early = hear(&informer);
    assert!(!early.registration.has_synced());
    synced(&informer).await;
    assert!(early.registration.has_synced());
    assert!(hear(&informer).registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i06_initial_objects_that_go_before_they_are_heard_of_are_not_waited_for() {
    let world = World::new();
    let informer = world.following(&["a", "b"]).await;
    let mut events = informer.events().unwrap();
    world.delete("a").await;
    world.set("b", 2).await;
    settle().await;
    let registration = events.registration();
    assert_eq!((registration.pending(), registration.has_synced()), (1, false));
    assert_eq!(told(&events.next().await.unwrap()), "add b=2 (initial)");
    assert!(!registration.has_synced(), "who takes it may still be at it");
    assert!(futures::poll!(events.next()).is_pending());
    assert!(registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i21_a_handler_that_panics_is_counted_and_goes_on_and_syncs() {
    let world = World::new();
    let informer = world.following(&["a"]).await;
    let (gate, mut panics) = blocked(&informer);
    let mut other = hear(&informer);
    gate.let_panic();
    panics.registration.wait_for_sync().await.unwrap();
    assert_eq!(panics.registration.panics(), 1);
    gate.let_go();
    world.set("a", 2).await;
    panics.these(&["update a 1->2"]).await;
    other.these(&["add a=1 (initial)", "update a 1->2"]).await;
    assert_eq!((panics.registration.panics(), other.registration.panics()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn i21_a_handler_may_have_a_panic_stop_the_informer() {
    let world = World::new();
    let informer = world.informer();
    let options = HandlerOptions::new().on_panic(OnPanic::Abort);
    hear_as(&informer, options, |_| panic!("it fails for good"));
    let (_, running) = synced(&informer).await;
    world.create("a", 1).await;
    let panic = running.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"it fails for good"));
    informer.add_event_handler(|_| {}).unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn i22_what_waits_for_a_handler_is_at_most_one_entry_for_each_object() {
    let world = World::new();
    let informer = world.following(&["a", "b", "c"]).await;
    let mut events = informer.events().unwrap();
    let mut first: Vec<_> = [(); 3].iter().map(|()| futures::FutureExt::now_or_never(events.next())).collect();
    assert!(first.iter_mut().all(|event| event.take().flatten().is_some()));
    for state in 2..50 {
        world.set("a", state).await;
        world.create("comes-and-goes", state).await;
        world.delete("comes-and-goes").await;
    }
    world.delete("b").await;
    world.delete("c").await;
    world.create("c", 7).await;
    settle().await;
    assert_eq!(events.registration().pending(), 3);
    let mut heard = Vec::new();
    while let Some(event) = futures::FutureExt::now_or_never(events.next()) {
        heard.push(told(&event.unwrap()));
    }
    assert_eq!(heard, ["update a 1->49", "delete b=1", "delete c=1", "add c=7"], "in the order they came");
}

#[tokio::test(start_paused = true)]
async fn i22_who_asks_hears_of_every_event_up_to_a_cap() {
    let world = World::new();
    let informer = world.following(&["a"]).await;
    let every = |cap, overflow| HandlerOptions::new().delivery(Delivery::EveryEvent { cap, overflow });
    let mut all = informer.events_with(every(10, Overflow::Coalesce)).unwrap();
    let mut some = informer.events_with(every(2, Overflow::Coalesce)).unwrap();
    let mut none = informer.events_with(every(2, Overflow::Remove)).unwrap();
    for state in 2..6 {
        world.set("a", state).await;
        settle().await;
    }
    let heard = async |events: &mut logger_runtime::informer::Events<Map>| {
        let mut heard = Vec::new();
        while let Some(Some(event)) = futures::FutureExt::now_or_never(events.next()) {
            heard.push(told(&event));
        }
        heard
    };
    let expected = ["add a=1 (initial)", "update a 1->2", "update a 2->3", "update a 3->4", "update a 4->5"];
    assert_eq!(heard(&mut all).await, expected);
    assert_eq!(heard(&mut some).await, ["add a=1 (initial)", "update a 1->2", "update a 2->5"]);
    assert_eq!(heard(&mut none).await, [""; 0]);
    assert!(none.registration().is_removed() && none.next().await.is_none());
    assert!(!all.registration().is_removed());
}

#[tokio::test(start_paused = true)]
async fn i20_a_handler_that_is_in_a_call_is_waited_for_at_the_end() {
    let world = World::new();
    world.create("a", 1).await;
    let informer = world.informer();
    let (mut gate, mut slow) = blocked(&informer);
    let (cancelled, running) = run(&informer);
    gate.is_entered().await;
    cancelled.cancel();
    for _ in 0..10 {
        yield_now().await;
    }
    assert!(!running.is_finished());
    gate.let_go();
    running.await.unwrap();
    slow.these(&["add a=1 (initial)"]).await;
}

#[tokio::test(start_paused = true)]
async fn i08_a_removal_is_acknowledged_when_the_call_has_returned() {
    let world = World::new();
    let informer = world.following(&["a", "b"]).await;
    let (mut gate, mut slow) = blocked(&informer);
    gate.is_entered().await;
    let mut removed = Box::pin(slow.registration.remove());
    assert!(futures::poll!(&mut removed).is_pending());
    gate.let_go();
    removed.await;
    slow.registration.remove().await;
    slow.next().await;
    world.set("a", 2).await;
    settle().await;
    assert_eq!(slow.now(), [""; 0]);
    assert_eq!(slow.registration.pending(), 0);
}
