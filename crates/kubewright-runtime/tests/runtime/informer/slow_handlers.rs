//! Slow handlers: they delay no other handler, and their pending events stay bounded.

use std::sync::mpsc::{Sender, channel};

use futures::StreamExt;
use kubewright_runtime::informer::{Delivery, HandlerOptions, OnPanic, Overflow, SharedInformer};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::yield_now,
};
use tokio_util::sync::CancellationToken;

use super::fixture::{
    Fixture, RecordedEvents, TIMEOUT, describe, record_events, record_events_with, run_until_idle, start, start_synced,
};

type Map = k8s_openapi::api::core::v1::ConfigMap;

/// Controls a handler that blocks its thread in each call, and reports when it is in one. Meanwhile the paused clock
/// does not advance.
struct Gate {
    open: Sender<Result<(), ()>>,
    entered: UnboundedReceiver<()>,
}

impl Gate {
    fn release(&self) {
        self.open.send(Ok(())).unwrap();
    }

    fn release_with_panic(&self) {
        self.open.send(Err(())).unwrap();
    }

    async fn wait_until_entered(&mut self) {
        self.entered.recv().await.unwrap();
    }
}

/// Adds a handler that blocks its thread in each call until the gate releases it.
fn blocking_handler(informer: &SharedInformer<Map>) -> (Gate, RecordedEvents) {
    let ((open, gate), (enter, entered)) = (channel::<Result<(), ()>>(), unbounded_channel());
    let received = record_events_with(informer, HandlerOptions::new().blocking(), move |event| {
        let _ = enter.send(());
        match gate.recv() {
            Ok(Err(())) => panic!("failed"),
            _ => describe(event),
        }
    });
    (Gate { open, entered }, received)
}

#[tokio::test(start_paused = true)]
async fn i04_i23_a_blocking_handler_delays_no_other_and_is_never_called_concurrently() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let (mut gate, mut slow) = blocking_handler(&informer);
    let mut fast = record_events(&informer);
    fast.expect_events(&["add a=1 (initial)"]).await;
    gate.wait_until_entered().await;
    for state in 2..100 {
        fixture.update("a", state).await;
        fast.expect_events(&[&format!("update a {}->{state}", state - 1)]).await;
    }
    assert_eq!(slow.drain(), [""; 0]);
    assert_eq!(slow.registration.pending(), 1, "updates are coalesced");
    gate.release();
    slow.expect_events(&["add a=1 (initial)"]).await;
    gate.release();
    slow.expect_events(&["update a 1->99"]).await;
}

#[tokio::test(start_paused = true)]
async fn i06_a_handler_has_synced_when_its_last_initial_call_has_returned() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b"]).await;
    let (mut gate, mut slow) = blocking_handler(&informer);
    let fast = record_events(&informer);
    fast.registration.wait_for_sync().await.unwrap();
    gate.wait_until_entered().await;
    gate.release();
    gate.wait_until_entered().await;
    slow.next().await;
    assert!(informer.has_synced(), "the informer does not wait for it");
    assert_eq!(
        (slow.registration.has_synced(), slow.registration.pending()),
        (false, 0),
        "its last call has not returned"
    );
    gate.release();
    slow.registration.wait_for_sync().await.unwrap();
    assert!(slow.registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i06_without_initial_objects_a_handler_has_synced_at_once() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let early = record_events(&informer);
    assert!(!early.registration.has_synced());
    start_synced(&informer).await;
    assert!(early.registration.has_synced());
    assert!(record_events(&informer).registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i06_sync_does_not_wait_for_initial_objects_that_were_deleted_before_delivery() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b"]).await;
    let mut events = informer.events().unwrap();
    fixture.delete("a").await;
    fixture.update("b", 2).await;
    run_until_idle().await;
    let registration = events.registration();
    assert_eq!((registration.pending(), registration.has_synced()), (1, false));
    assert_eq!(describe(&events.next().await.unwrap()), "add b=2 (initial)");
    assert!(!registration.has_synced(), "the consumer may still be processing it");
    assert!(futures::poll!(events.next()).is_pending());
    assert!(registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn i21_panics_of_a_handler_are_counted_and_it_continues_and_syncs() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let (gate, mut panics) = blocking_handler(&informer);
    let mut other = record_events(&informer);
    gate.release_with_panic();
    panics.registration.wait_for_sync().await.unwrap();
    assert_eq!(panics.registration.panics(), 1);
    gate.release();
    fixture.update("a", 2).await;
    panics.expect_events(&["update a 1->2"]).await;
    other.expect_events(&["add a=1 (initial)", "update a 1->2"]).await;
    assert_eq!((panics.registration.panics(), other.registration.panics()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn i21_a_panic_can_stop_the_informer() {
    let fixture = Fixture::new();
    let informer = fixture.informer();
    let options = HandlerOptions::new().on_panic(OnPanic::Abort);
    record_events_with(&informer, options, |_| panic!("failed"));
    let (run, cancelled) = (informer.clone(), CancellationToken::new());
    let running = tokio::spawn(async move { run.run(cancelled).await });
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    fixture.create("a", 1).await;
    let failed = running.await.unwrap().unwrap_err();
    let reason = "the event handler `configmaps-1` panicked for `default/a`: failed";
    assert_eq!((failed.resource.as_str(), failed.reason.as_str()), ("configmaps", reason));
    assert_eq!(informer.last_error(), Some(failed.to_string()));
    assert!(!informer.has_synced() && informer.wait_for_sync().await.is_err());
    informer.add_event_handler(|_| {}).unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn i22_at_most_one_event_per_object_is_pending() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b", "c"]).await;
    let mut events = informer.events().unwrap();
    let mut first: Vec<_> = [(); 3].iter().map(|()| futures::FutureExt::now_or_never(events.next())).collect();
    assert!(first.iter_mut().all(|event| event.take().flatten().is_some()));
    for state in 2..50 {
        fixture.update("a", state).await;
        fixture.create("comes-and-goes", state).await;
        fixture.delete("comes-and-goes").await;
    }
    fixture.delete("b").await;
    fixture.delete("c").await;
    fixture.create("c", 7).await;
    run_until_idle().await;
    assert_eq!(events.registration().pending(), 3);
    let mut received = Vec::new();
    while let Some(event) = futures::FutureExt::now_or_never(events.next()) {
        received.push(describe(&event.unwrap()));
    }
    assert_eq!(
        received,
        ["update a 1->49", "delete b=1", "delete c=1", "add c=7"],
        "ordered by the first pending change"
    );
}

#[tokio::test(start_paused = true)]
async fn i22_a_handler_can_receive_every_event_up_to_a_cap() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let every_event = |cap, overflow| HandlerOptions::new().delivery(Delivery::EveryEvent { cap, overflow });
    let mut all = informer.events_with(every_event(10, Overflow::Coalesce)).unwrap();
    let mut some = informer.events_with(every_event(2, Overflow::Coalesce)).unwrap();
    let mut none = informer.events_with(every_event(2, Overflow::Remove)).unwrap();
    for state in 2..6 {
        fixture.update("a", state).await;
        run_until_idle().await;
    }
    let received = async |events: &mut kubewright_runtime::informer::Events<Map>| {
        let mut received = Vec::new();
        while let Some(Some(event)) = futures::FutureExt::now_or_never(events.next()) {
            received.push(describe(&event));
        }
        received
    };
    let expected = ["add a=1 (initial)", "update a 1->2", "update a 2->3", "update a 3->4", "update a 4->5"];
    assert_eq!(received(&mut all).await, expected);
    assert_eq!(received(&mut some).await, ["add a=1 (initial)", "update a 1->2", "update a 2->5"]);
    assert_eq!(received(&mut none).await, [""; 0]);
    assert!(none.registration().is_removed() && none.next().await.is_none());
    assert!(!all.registration().is_removed());
}

#[tokio::test(start_paused = true)]
async fn i20_a_stop_waits_for_the_current_call_of_a_handler() {
    let fixture = Fixture::new();
    fixture.create("a", 1).await;
    let informer = fixture.informer();
    let (mut gate, mut slow) = blocking_handler(&informer);
    let (cancelled, running) = start(&informer);
    gate.wait_until_entered().await;
    cancelled.cancel();
    for _ in 0..10 {
        yield_now().await;
    }
    assert!(!running.is_finished());
    gate.release();
    running.await.unwrap();
    slow.expect_events(&["add a=1 (initial)"]).await;
}

#[tokio::test(start_paused = true)]
async fn i08_a_removal_is_acknowledged_when_the_current_call_has_returned() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a", "b"]).await;
    let (mut gate, mut slow) = blocking_handler(&informer);
    gate.wait_until_entered().await;
    let mut removed = Box::pin(slow.registration.remove());
    assert!(futures::poll!(&mut removed).is_pending());
    gate.release();
    removed.await;
    slow.registration.remove().await;
    slow.next().await;
    fixture.update("a", 2).await;
    run_until_idle().await;
    assert_eq!(slow.drain(), [""; 0]);
    assert_eq!(slow.registration.pending(), 0);
}
