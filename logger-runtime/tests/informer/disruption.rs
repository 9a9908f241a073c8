//! Watches that end, are cut or cannot be taken up again.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use logger_apiserver::{Fault, Verb};
use logger_runtime::informer::{Config, HandlerOptions, SharedInformer};

use crate::world::{Heard, World, hear, hear_as, settle, synced, told};

/// An informer that has synced with `gone` and `stays`, and a handler that heard of them.
async fn follow_two(world: &World) -> (SharedInformer<ConfigMap>, Heard) {
    let informer = world.following(&["gone", "stays"]).await;
    let mut heard = hear(&informer);
    heard.all_of(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    world.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    (informer, heard)
}

/// The watch is cut, and meanwhile this happens; the version is too old then, so all is listed.
async fn missing(world: &World, refusal: Fault, meanwhile: impl AsyncFnOnce()) {
    let (open, gate) = tokio::sync::watch::channel(false);
    world.faults.once(Verb::Watch, refusal.gated(gate));
    world.faults.end(Verb::Watch);
    meanwhile().await;
    open.send_replace(true);
}

#[tokio::test(start_paused = true)]
async fn i12_a_deletion_that_was_missed_is_told_with_the_last_known_state() {
    for refusal in [Fault::expired_event(), Fault::expired()] {
        let world = World::new();
        let (informer, mut heard) = follow_two(&world).await;
        missing(&world, refusal, async || {
            world.set("gone", 2).await;
            world.delete("gone").await;
        })
        .await;
        heard.these(&["delete gone=1 (missed)"]).await;
        assert_eq!((world.faults.count(Verb::List), informer.store().len()), (2, 1));
        world.delete("stays").await;
        heard.these(&["delete stays=1"]).await;
        heard.nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn i12_a_seen_deletion_carries_the_final_state_with_the_version_of_the_deletion() {
    let world = World::new();
    let informer = world.following(&["gone"]).await;
    let version = informer.store().list()[0].metadata.resource_version.clone().unwrap();
    let number = |version: &str| version.parse::<u64>().unwrap();
    let mut heard =
        hear_as(&informer, HandlerOptions::new(), |event| event.object().metadata.resource_version.clone().unwrap());
    assert_eq!(heard.next().await, version);
    world.delete("gone").await;
    assert!(number(&heard.next().await) > number(&version));
}

#[tokio::test(start_paused = true)]
async fn i12_a_missed_deletion_is_told_also_where_the_name_was_taken_again() {
    let world = World::new();
    let (_informer, mut heard) = follow_two(&world).await;
    missing(&world, Fault::expired_event(), async || {
        world.delete("gone").await;
        world.create("gone", 7).await;
    })
    .await;
    heard.these(&["delete gone=1 (missed)", "add gone=7"]).await;
}

#[tokio::test(start_paused = true)]
async fn i13_what_is_deleted_is_told_as_deleted_once() {
    let world = World::new();
    let (informer, mut heard) = follow_two(&world).await;
    let mut slow = informer.events().unwrap();
    world.delete("gone").await;
    heard.these(&["delete gone=1"]).await;
    missing(&world, Fault::expired_event(), async || world.delete("stays").await).await;
    heard.these(&["delete stays=1 (missed)"]).await;
    missing(&world, Fault::expired_event(), async || {}).await;
    heard.nothing().await;
    assert!(futures::poll!(futures::StreamExt::next(&mut slow)).is_pending(), "it came and went unheard");
}

#[tokio::test(start_paused = true)]
async fn i16_i17_after_a_new_list_handlers_hear_what_changed_and_all_only_if_they_asked_for_resyncs() {
    let world = World::new();
    let (informer, mut heard) = follow_two(&world).await;
    let resyncs = HandlerOptions::new().resync(Duration::from_secs(3600));
    let mut all = hear_as(&informer, resyncs, told);
    all.all_of(&["add gone=1 (initial)", "add stays=1 (initial)"]).await;
    missing(&world, Fault::expired_event(), async || {
        world.delete("gone").await;
        world.create("new", 1).await;
    })
    .await;
    heard.these(&["delete gone=1 (missed)", "add new=1"]).await;
    all.all_of(&["delete gone=1 (missed)", "add new=1", "update stays 1->1"]).await;
    heard.nothing().await;
}

#[tokio::test(start_paused = true)]
async fn i18_what_goes_wrong_is_told_and_tried_again() {
    let world = World::new();
    let (informer, mut heard) = follow_two(&world).await;
    assert_eq!(informer.last_error(), None);
    world.faults.once(Verb::Watch, Fault::status(403, "Forbidden", "no watching"));
    world.faults.end(Verb::Watch);
    world.faults.until(Verb::Watch, 2).await;
    settle().await;
    let error = informer.last_error().expect("the watch was refused");
    assert!(error.starts_with("cannot watch configmaps: no watching; "), "{error}");
    world.create("new", 1).await;
    heard.these(&["add new=1"]).await;
    assert_eq!(informer.last_error(), None);
}

#[tokio::test(start_paused = true)]
async fn i19_a_watch_that_is_taken_up_again_brings_changes_that_are_not_initial() {
    let world = World::new();
    let (_informer, mut heard) = follow_two(&world).await;
    world.faults.next(3, Verb::Watch, Fault::refused());
    world.faults.cut(Verb::Watch);
    world.set("gone", 2).await;
    world.create("new", 1).await;
    world.delete("gone").await;
    heard.all_of(&["update gone 1->2", "add new=1", "delete gone=2"]).await;
    assert_eq!(world.faults.count(Verb::List), 1);
}

#[tokio::test(start_paused = true)]
async fn i18_who_asked_hears_of_every_error_and_may_panic() {
    let world = World::new();
    for text in ["{\"kind\": ", "<html>\n<body>hello</body></html>", "{}"] {
        world.faults.once(Verb::List, Fault::answer(200, text));
    }
    world.faults.once(Verb::List, Fault::torn("{\"apiVersion\": \"v1\", "));
    let (tell, mut errors) = tokio::sync::mpsc::unbounded_channel();
    let config = Config::default().on_error(move |error| {
        tell.send(error.to_string()).unwrap();
        panic!("it fails");
    });
    let informer = world.informer_with(config);
    synced(&informer).await;
    assert_eq!(informer.last_error(), None);
    for _ in 0..4 {
        let error = errors.try_recv().unwrap();
        assert!(error.starts_with("cannot list configmaps: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(errors.try_recv().is_err());
}
