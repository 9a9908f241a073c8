//! The promises of the informer factory.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::api::storage::v1::CSIDriver;
use kube::Api;
use kube::api::PostParams;
use logger_apiserver::{Fault, Requests, Verb};
use logger_runtime::{InformerFactory, SyncError};
use tokio::time::{Instant, timeout};

use crate::world::{PATIENCE, World, alive, hear, map, settle, state};

const DEADLINE: Duration = Duration::from_secs(5);

fn count(world: &World, verb: Verb, resource: &str) -> usize {
    world.faults.count(Requests::to(resource).verb(verb))
}

#[tokio::test(start_paused = true)]
async fn one_informer_for_each_kind_however_often_it_is_asked_for() {
    let world = World::new();
    let factory = InformerFactory::namespaced(world.client(), "default");
    let mut heard = hear(&factory.informer::<ConfigMap>());
    let again = factory.clone().informer::<ConfigMap>();
    factory.informer::<Secret>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    world.create("audit", 1).await;
    heard.these(&["add audit=1"]).await;
    assert_eq!(again.store().len(), 1);
    settle().await;
    for resource in ["configmaps", "secrets"] {
        let asked = [Verb::List, Verb::Watch].map(|verb| count(&world, verb, resource));
        assert_eq!(asked, [1, 1], "{resource}");
    }
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn informers_asked_for_after_start_run_after_a_second_start() {
    let world = World::new();
    let factory = InformerFactory::new(world.client());
    factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    let secrets = factory.informer::<Secret>();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons, ["secrets: not started"]);
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    assert!(secrets.has_synced());
    assert_eq!(count(&world, Verb::List, "configmaps"), 1, "what runs is not run again");
    factory.shutdown().await;
}

/// Waits for two kinds, of which this fault lets none sync; the error must come at the deadline.
async fn sync_error(fault: Fault) -> SyncError {
    let world = World::new();
    world.faults.always(Verb::List, fault);
    let factory = InformerFactory::new(world.client());
    factory.informer::<Secret>();
    factory.informer::<ConfigMap>();
    factory.start();
    let start = Instant::now();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert!(start.elapsed() < DEADLINE + Duration::from_millis(500), "{:?}", start.elapsed());
    assert_eq!((error.waited, error.reasons.len()), (DEADLINE, 2), "{error}");
    assert!(error.to_string().starts_with("not synced after 5s: "), "{error}");
    factory.shutdown().await;
    error
}

#[tokio::test(start_paused = true)]
async fn not_synced_names_the_kinds_and_why() {
    let cases = [
        (Fault::status(403, "Forbidden", "User \"ann\" cannot list that"), "User \"ann\" cannot list that; "),
        (Fault::refused(), "onnection refused"),
    ];
    for (fault, why) in cases {
        let error = sync_error(fault).await;
        for (reason, resource) in error.reasons.iter().zip(["configmaps", "secrets"]) {
            assert!(reason.starts_with(&format!("cannot list {resource}: ")), "{reason}");
            assert!(reason.contains(why), "{reason}");
        }
    }
    assert_eq!(sync_error(Fault::hang()).await.reasons, ["configmaps: no answer yet", "secrets: no answer yet"]);
}

#[tokio::test(start_paused = true)]
async fn not_synced_says_that_a_kind_is_not_served_and_names_only_those_that_are_not_synced() {
    let world = World::new();
    let factory = InformerFactory::new(world.client());
    factory.informer::<ConfigMap>();
    factory.informer::<CSIDriver>();
    factory.start();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons.len(), 1, "{error}");
    assert!(error.reasons[0].starts_with("cannot list csidrivers.storage.k8s.io: "), "{error}");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_every_task_even_when_the_server_hangs() {
    for (verb, fault) in [
        (Verb::Create, Fault::hang()),
        (Verb::List, Fault::hang()),
        (Verb::Watch, Fault::hang()),
        (Verb::List, Fault::refused()),
    ] {
        let world = World::new();
        world.faults.always(verb, fault);
        let factory = InformerFactory::new(world.client());
        settle().await;
        let tasks = alive();
        let mut heard = hear(&factory.informer::<ConfigMap>());
        factory.informer::<Secret>();
        factory.start();
        settle().await;
        assert_eq!(alive(), tasks + 3, "two informers and a handler");
        let before = Instant::now();
        timeout(DEADLINE, factory.shutdown()).await.expect("it returns");
        assert_eq!((before.elapsed(), alive()), (Duration::ZERO, tasks));
        assert_eq!((world.faults.waiting(verb), world.faults.open(Verb::Watch)), (0, 0));
        world.faults.heal();
        world.create("audit", 1).await;
        assert!(timeout(PATIENCE, std::future::pending::<()>()).await.is_err());
        assert_eq!(heard.now(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_factory_that_was_shut_down_starts_none_again() {
    let world = World::new();
    let factory = InformerFactory::new(world.client());
    factory.shutdown().await;
    factory.informer::<ConfigMap>();
    settle().await;
    let tasks = alive();
    factory.start();
    assert_eq!(alive(), tasks);
    factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(world.faults.count(Verb::List), 0);
    timeout(DEADLINE, factory.shutdown()).await.expect("a second shutdown returns");
}

#[tokio::test(start_paused = true)]
async fn a_factory_tells_its_informers_what_it_was_told() {
    let world = World::new();
    let everywhere = Api::<ConfigMap>::namespaced(world.server.client(), "default");
    for (name, tier) in [("a", "web"), ("b", "cache")] {
        let mut labelled = map(name, 1);
        labelled.metadata.labels = Some([("tier".to_owned(), tier.to_owned())].into());
        everywhere.create(&PostParams::default(), &labelled).await.unwrap();
    }
    let factory = InformerFactory::builder(world.client())
        .namespaces(["default", "other", "default"])
        .labels("tier=web")
        .resync(Duration::from_secs(1))
        .transform::<ConfigMap>(|map| map.data = self::map("", state(map).parse::<i32>().unwrap() * 2).data)
        .configure::<ConfigMap>(|config| config.name("mine"))
        .build();
    let mut heard = hear(&factory.informer::<ConfigMap>());
    let namespaces = factory.informer::<Namespace>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    heard.these(&["add a=2 (initial)", "update a 2->2"]).await;
    assert_eq!(namespaces.store().len(), 0, "none has the label");
    let lists = ["configmaps", "namespaces"].map(|resource| count(&world, Verb::List, resource));
    assert_eq!(lists, [2, 1], "a cluster kind is in no namespace");
    factory.shutdown().await;
}
