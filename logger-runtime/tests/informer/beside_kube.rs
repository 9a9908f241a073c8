//! What kube-runtime 5 does where our rules claim to be better, shown on kube itself; and kube's controller on our informer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};

use futures::{FutureExt, Stream, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::runtime::controller::Action;
use kube::runtime::reflector::{ReflectHandle, store_shared};
use kube::runtime::watcher::Event;
use kube::runtime::{Controller, WatchStreamExt, watcher};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::world::{PATIENCE, World, map, run, settle, state, synced, told};

type Reflected = std::pin::Pin<Box<dyn Stream<Item = watcher::Result<Event<ConfigMap>>> + Send>>;

/// kube's shared reflector over these events, with room for so many, and a subscriber that came `before`.
fn kube(events: Vec<Event<ConfigMap>>, room: usize) -> (Reflected, ReflectHandle<ConfigMap>) {
    let (_, writer) = store_shared(room);
    let subscriber = writer.subscribe().unwrap();
    (Box::pin(stream::iter(events).map(Ok).reflect_shared(writer)), subscriber)
}

/// What comes without waiting.
fn now<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> Vec<T> {
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

fn names(objects: Vec<Arc<ConfigMap>>) -> Vec<String> {
    objects.iter().map(|object| object.name_any()).collect()
}

/// How often a task was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn i05_kube_tells_a_late_subscriber_nothing_of_what_is_there_and_we_do() {
    let (_, writer) = store_shared(10);
    let subscribe = writer.subscribe().unwrap();
    let events = [Event::Init, Event::InitApply(map("a", 1)), Event::InitDone, Event::Apply(map("b", 1))];
    let mut root = Box::pin(stream::iter(events).map(Ok).reflect_shared(writer));
    for _ in 0..3 {
        root.next().await.unwrap().unwrap();
    }
    // A clone that has heard of what was there is the only other way to a subscriber: it, too, begins where it is.
    let mut early = subscribe;
    assert_eq!(names(now(&mut early)), ["a"]);
    let mut late = early.clone();
    root.next().await.unwrap().unwrap();
    assert_eq!(names(now(&mut late)), ["b"], "kube: nothing of `a`");

    let world = World::new();
    let informer = world.following(&["a"]).await;
    let mut late = informer.events().unwrap();
    world.create("b", 1).await;
    settle().await;
    assert_eq!(now(&mut late).iter().map(told).collect::<Vec<_>>(), ["add a=1 (initial)", "add b=1"]);
}

#[tokio::test(start_paused = true)]
async fn i12_kube_tells_subscribers_of_no_deletion_and_we_do() {
    let (root, mut subscriber) = kube(vec![Event::Apply(map("a", 1))], 10);
    let (root_again, mut again) = kube(vec![Event::Apply(map("a", 1)), Event::Delete(map("a", 1))], 10);
    assert_eq!((root.count().await, names(now(&mut subscriber))), (1, vec!["a".to_owned()]));
    assert_eq!(root_again.count().await, 2);
    assert_eq!(names(now(&mut again)), [""; 0], "kube: not of the deletion, nor of what was before it");

    let world = World::new();
    let informer = world.following(&["a"]).await;
    let mut events = informer.events().unwrap();
    assert_eq!(now(&mut events).len(), 1);
    world.delete("a").await;
    settle().await;
    assert_eq!(now(&mut events).iter().map(told).collect::<Vec<_>>(), ["delete a=1"]);
}

/// An object comes and goes before the subscriber looks: kube's `ReflectHandle::poll_next` then says `Pending` though what it
/// waits on said `Ready`, so nobody wakes it for the events that follow; and when its buffer is full, the root stops.
#[tokio::test(start_paused = true)]
async fn i23_kube_lets_a_subscriber_sleep_for_ever_and_stops_for_all_and_we_do_not() {
    let mut events = vec![Event::Apply(map("gone", 1)), Event::Delete(map("gone", 1))];
    events.extend((0..4).map(|number| Event::Apply(map(&format!("later-{number}"), 1))));
    let (mut root, mut subscriber) = kube(events, 2);
    for _ in 0..2 {
        root.next().await.unwrap().unwrap();
    }
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    assert!(subscriber.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    let went_on = now(&mut root).len();
    assert_eq!(woken.0.load(Ordering::SeqCst), 0, "kube: it is not woken, whatever comes");
    assert_eq!(went_on, 2, "kube: the root stops when the sleeper's buffer is full");
    let later = names(now(&mut subscriber));
    assert_eq!(later, ["later-0", "later-1"], "kube: they were there for whoever would have looked");

    let world = World::new();
    let informer = world.following(&[]).await;
    let mut events = informer.events().unwrap();
    world.create("gone", 1).await;
    world.delete("gone").await;
    settle().await;
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    assert!(events.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    for number in 0..4 {
        world.create(&format!("later-{number}"), 1).await;
    }
    settle().await;
    assert!(woken.0.load(Ordering::SeqCst) > 0);
    assert_eq!((now(&mut events).len(), informer.store().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn kubes_own_controller_runs_on_the_informer() {
    let world = World::new();
    world.create("early", 1).await;
    let informer = world.informer();
    let (trigger, store) = informer.for_kube().unwrap();
    let (tell, mut reconciled) = mpsc::unbounded_channel();
    let reconcile = async |object: Arc<ConfigMap>, tell: Arc<mpsc::UnboundedSender<String>>| {
        tell.send(format!("{}={}", object.name_any(), state(&object))).unwrap();
        Ok::<_, std::io::Error>(Action::await_change())
    };
    let controller = Controller::for_shared_stream(trigger, store.clone());
    let controller = controller.run(
        move |object, tell| Box::pin(reconcile(object, tell)),
        |_, _, _| Action::await_change(),
        Arc::new(tell),
    );
    let controller = tokio::spawn(controller.collect::<Vec<_>>());
    let (cancelled, running) = synced(&informer).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("early=1"));
    world.set("early", 2).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("early=2"));
    world.create("late", 1).await;
    assert_eq!(reconciled.recv().await.as_deref(), Some("late=1"));
    world.delete("early").await;
    settle().await;
    assert_eq!(names(store.state()), ["late"]);
    cancelled.cancel();
    running.await.unwrap();
    assert_eq!(controller.await.unwrap().len(), 3, "it ends with the informer");
}

#[tokio::test(start_paused = true)]
async fn kubes_store_is_ready_when_it_has_all_that_was_there_also_where_nothing_was() {
    for names in [&[][..], &["a", "b"]] {
        let world = World::new();
        for name in names {
            world.create(name, 1).await;
        }
        let informer = world.informer();
        let (mut trigger, store) = informer.for_kube().unwrap();
        let triggered = tokio::spawn(async move { (&mut trigger).collect::<Vec<_>>().await.len() });
        assert!(store.wait_until_ready().now_or_never().is_none());
        let (cancelled, _) = run(&informer);
        timeout(PATIENCE, store.wait_until_ready()).await.unwrap().unwrap();
        assert_eq!(store.len(), names.len());
        cancelled.cancel();
        assert_eq!(triggered.await.unwrap(), names.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_of_an_empty_stream_is_pending_and_not_the_end() {
    let world = World::new();
    let informer = world.following(&[]).await;
    let mut events = informer.events().unwrap();
    assert_eq!(futures::poll!(events.next()).map(|event| event.is_none()), Poll::Pending);
}
