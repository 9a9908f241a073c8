//! How kube-runtime 5 differs from the rules of our informer, shown on kube itself; and kube's controller on our
//! informer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake},
};

use futures::{FutureExt, Stream, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt,
    runtime::{
        Controller, WatchStreamExt,
        controller::Action,
        reflector::{ReflectHandle, store_shared},
        watcher,
        watcher::Event,
    },
};
use tokio::{sync::mpsc, time::timeout};

use super::fixture::{Fixture, TIMEOUT, config_map, describe, run_until_idle, start, start_synced, state};

type Reflected = std::pin::Pin<Box<dyn Stream<Item = watcher::Result<Event<ConfigMap>>> + Send>>;

/// Creates kube's shared reflector over these events with a buffer of this size, and an early subscriber.
fn kube_reflector(events: Vec<Event<ConfigMap>>, buffer_size: usize) -> (Reflected, ReflectHandle<ConfigMap>) {
    let (_, writer) = store_shared(buffer_size);
    let subscriber = writer.subscribe().unwrap();
    (Box::pin(stream::iter(events).map(Ok).reflect_shared(writer)), subscriber)
}

/// Returns the items that are ready.
fn ready_items<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> Vec<T> {
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

fn names(objects: Vec<Arc<ConfigMap>>) -> Vec<String> {
    objects.iter().map(|object| object.name_any()).collect()
}

/// Counts the wake-ups of a task.
#[derive(Default)]
struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn i05_kube_replays_no_objects_to_a_late_subscriber_and_we_do() {
    let (_, writer) = store_shared(10);
    let subscribe = writer.subscribe().unwrap();
    let events = [Event::Init, Event::InitApply(config_map("a", 1)), Event::InitDone, Event::Apply(config_map("b", 1))];
    let mut root = Box::pin(stream::iter(events).map(Ok).reflect_shared(writer));
    for _ in 0..3 {
        root.next().await.unwrap().unwrap();
    }
    // A clone of a subscriber is the only other way to subscribe; it starts at the position of the original.
    let mut early = subscribe;
    assert_eq!(names(ready_items(&mut early)), ["a"]);
    let mut late = early.clone();
    root.next().await.unwrap().unwrap();
    assert_eq!(names(ready_items(&mut late)), ["b"], "kube: no event for `a`");

    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let mut late = informer.events().unwrap();
    fixture.create("b", 1).await;
    run_until_idle().await;
    assert_eq!(ready_items(&mut late).iter().map(describe).collect::<Vec<_>>(), ["add a=1 (initial)", "add b=1"]);
}

#[tokio::test(start_paused = true)]
async fn i12_kube_reports_no_deletions_to_subscribers_and_we_do() {
    let (root, mut subscriber) = kube_reflector(vec![Event::Apply(config_map("a", 1))], 10);
    let (root_again, mut again) =
        kube_reflector(vec![Event::Apply(config_map("a", 1)), Event::Delete(config_map("a", 1))], 10);
    assert_eq!((root.count().await, names(ready_items(&mut subscriber))), (1, vec!["a".to_owned()]));
    assert_eq!(root_again.count().await, 2);
    assert_eq!(names(ready_items(&mut again)), [""; 0], "kube: neither the deletion nor the state before it");

    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&["a"]).await;
    let mut events = informer.events().unwrap();
    assert_eq!(ready_items(&mut events).len(), 1);
    fixture.delete("a").await;
    run_until_idle().await;
    assert_eq!(ready_items(&mut events).iter().map(describe).collect::<Vec<_>>(), ["delete a=1"]);
}

/// An object is created and deleted before the subscriber polls: kube's `ReflectHandle::poll_next` then returns
/// `Pending` though its channel returned `Ready`, so it is not woken for later events; and when its buffer is full, the
/// root stream stops.
#[tokio::test(start_paused = true)]
async fn i23_kube_can_miss_a_wake_up_and_then_stops_for_all_and_we_do_not() {
    let mut events = vec![Event::Apply(config_map("gone", 1)), Event::Delete(config_map("gone", 1))];
    events.extend((0..4).map(|number| Event::Apply(config_map(&format!("later-{number}"), 1))));
    let (mut root, mut subscriber) = kube_reflector(events, 2);
    for _ in 0..2 {
        root.next().await.unwrap().unwrap();
    }
    let wakes = Arc::new(WakeCounter::default());
    let waker = wakes.clone().into();
    assert!(subscriber.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    let delivered = ready_items(&mut root).len();
    assert_eq!(wakes.0.load(Ordering::SeqCst), 0, "kube: later events do not wake the subscriber");
    assert_eq!(delivered, 2, "kube: the root stream stops when the buffer of the subscriber is full");
    let later = names(ready_items(&mut subscriber));
    assert_eq!(later, ["later-0", "later-1"], "kube: the events were available to a poll");

    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&[]).await;
    let mut events = informer.events().unwrap();
    fixture.create("gone", 1).await;
    fixture.delete("gone").await;
    run_until_idle().await;
    let wakes = Arc::new(WakeCounter::default());
    let waker = wakes.clone().into();
    assert!(events.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    for number in 0..4 {
        fixture.create(&format!("later-{number}"), 1).await;
    }
    run_until_idle().await;
    assert!(wakes.0.load(Ordering::SeqCst) > 0);
    assert_eq!((ready_items(&mut events).len(), informer.store().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn kubes_controller_runs_on_the_informer() {
    let fixture = Fixture::new();
    fixture.create("early", 1).await;
    let informer = fixture.informer();
    let (trigger, store) = informer.for_kube().unwrap();
    let (sender, mut reconciled) = mpsc::unbounded_channel();
    let reconcile = async |object: Arc<ConfigMap>, sender: Arc<mpsc::UnboundedSender<String>>| {
        sender.send(format!("{}={}", object.name_any(), state(&object))).unwrap();
        Ok::<_, std::io::Error>(Action::await_change())
    };
    let controller = Controller::for_shared_stream(trigger, store.clone());
    let controller = controller.run(
        move |object, sender| Box::pin(reconcile(object, sender)),
        |_, _, _| Action::await_change(),
        Arc::new(sender),
    );
    let controller = tokio::spawn(controller.collect::<Vec<_>>());
    let (cancelled, running) = start_synced(&informer).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("early=1"));
    fixture.update("early", 2).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("early=2"));
    fixture.create("late", 1).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("late=1"));
    fixture.delete("early").await;
    run_until_idle().await;
    assert_eq!(names(store.state()), ["late"]);
    cancelled.cancel();
    running.await.unwrap();
    assert_eq!(controller.await.unwrap().len(), 3, "the controller ends with the informer");
}

#[tokio::test(start_paused = true)]
async fn kubes_store_is_ready_after_the_initial_list_even_if_that_is_empty() {
    for names in [&[][..], &["a", "b"]] {
        let fixture = Fixture::new();
        for name in names {
            fixture.create(name, 1).await;
        }
        let informer = fixture.informer();
        let (mut trigger, store) = informer.for_kube().unwrap();
        let triggered = tokio::spawn(async move { (&mut trigger).collect::<Vec<_>>().await.len() });
        assert!(store.wait_until_ready().now_or_never().is_none());
        let (cancelled, _) = start(&informer);
        timeout(TIMEOUT, store.wait_until_ready()).await.unwrap().unwrap();
        assert_eq!(store.len(), names.len());
        cancelled.cancel();
        assert_eq!(triggered.await.unwrap(), names.len());
    }
}

#[tokio::test(start_paused = true)]
async fn polling_an_empty_stream_is_pending_and_does_not_end_it() {
    let fixture = Fixture::new();
    let informer = fixture.synced_informer(&[]).await;
    let mut events = informer.events().unwrap();
    assert_eq!(futures::poll!(events.next()).map(|event| event.is_none()), Poll::Pending);
}
