//! The guarantees of the informer factory.

use std::time::Duration;

use k8s_openapi::api::{
    core::v1::{ConfigMap, Namespace, Secret},
    storage::v1::CSIDriver,
};
use kube::{Api, api::PostParams};
use kubewright_apiserver::{Fault, Requests, Verb};
use kubewright_runtime::{CancellationToken, InformerFactory, SyncError};
use tokio::time::{Instant, timeout};

use super::fixture::{Fixture, TIMEOUT, alive_tasks, config_map, record_events, run_until_idle, state};

const DEADLINE: Duration = Duration::from_secs(5);

fn request_count(fixture: &Fixture, verb: Verb, resource: &str) -> usize {
    fixture.faults.count(Requests::to(resource).verb(verb))
}

#[tokio::test(start_paused = true)]
async fn one_informer_per_kind_however_often_it_is_requested() {
    let fixture = Fixture::new();
    let factory = InformerFactory::namespaced(fixture.client(), "default");
    let mut received = record_events(&factory.informer::<ConfigMap>());
    let again = factory.clone().informer::<ConfigMap>();
    factory.informer::<Secret>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    fixture.create("audit", 1).await;
    received.expect_events(&["add audit=1"]).await;
    assert_eq!(again.store().len(), 1);
    run_until_idle().await;
    for resource in ["configmaps", "secrets"] {
        let requests = [Verb::List, Verb::Watch].map(|verb| request_count(&fixture, verb, resource));
        assert_eq!(requests, [1, 1], "{resource}");
    }
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn informers_requested_after_start_run_after_a_second_start() {
    let fixture = Fixture::new();
    let factory = fixture.factory();
    factory.informer::<ConfigMap>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    let secrets = factory.informer::<Secret>();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons, ["secrets: not started"]);
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    assert!(secrets.has_synced());
    assert_eq!(request_count(&fixture, Verb::List, "configmaps"), 1, "running informers are not restarted");
    factory.shutdown().await;
}

/// Waits for two kinds that this fault keeps from syncing, and returns the error, which must arrive at the deadline.
async fn sync_error(fault: Fault) -> SyncError {
    let fixture = Fixture::new();
    fixture.faults.always(Verb::List, fault);
    let factory = fixture.factory();
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
async fn a_sync_error_names_the_kinds_and_reasons() {
    let cases = [
        (Fault::status(403, "Forbidden", "User \"ann\" cannot list that"), "User \"ann\" cannot list that; "),
        (Fault::connection_refused(), "onnection refused"),
    ];
    for (fault, message) in cases {
        let error = sync_error(fault).await;
        for (reason, resource) in error.reasons.iter().zip(["configmaps", "secrets"]) {
            assert!(reason.starts_with(&format!("cannot list {resource}: ")), "{reason}");
            assert!(reason.contains(message), "{reason}");
        }
    }
    assert_eq!(sync_error(Fault::hang()).await.reasons, ["configmaps: no response yet", "secrets: no response yet"]);
}

#[tokio::test(start_paused = true)]
async fn a_sync_error_names_a_kind_that_is_not_served_and_no_synced_kind() {
    let fixture = Fixture::new();
    fixture.faults.always(Requests::to("csidrivers"), Fault::answer(404, "404 page not found\n"));
    let factory = fixture.factory();
    factory.informer::<ConfigMap>();
    factory.informer::<CSIDriver>();
    factory.start();
    let error = factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(error.reasons.len(), 1, "{error}");
    assert!(error.reasons[0].starts_with("cannot list csidrivers.storage.k8s.io: "), "{error}");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_every_task_even_if_the_server_hangs() {
    for (verb, fault) in [
        (Verb::Create, Fault::hang()),
        (Verb::List, Fault::hang()),
        (Verb::Watch, Fault::hang()),
        (Verb::List, Fault::connection_refused()),
    ] {
        let fixture = Fixture::new();
        fixture.faults.always(verb, fault);
        let factory = fixture.factory();
        run_until_idle().await;
        let tasks = alive_tasks();
        let mut received = record_events(&factory.informer::<ConfigMap>());
        factory.informer::<Secret>();
        factory.start();
        run_until_idle().await;
        assert_eq!(alive_tasks(), tasks + 3, "two informers and a handler");
        let before = Instant::now();
        timeout(DEADLINE, factory.shutdown()).await.expect("shutdown returns");
        assert_eq!((before.elapsed(), alive_tasks()), (Duration::ZERO, tasks));
        assert_eq!((fixture.faults.waiting(verb), fixture.faults.open(Verb::Watch)), (0, 0));
        fixture.faults.heal();
        fixture.create("audit", 1).await;
        assert!(timeout(TIMEOUT, std::future::pending::<()>()).await.is_err());
        assert_eq!(received.drain(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_no_task() {
    let fixture = Fixture::new();
    let factory = fixture.factory();
    factory.informer::<ConfigMap>();
    run_until_idle().await;
    let tasks = alive_tasks();
    {
        let mut run = Box::pin(factory.run(CancellationToken::new()));
        assert!(futures::poll!(&mut run).is_pending());
        factory.wait_for_sync(DEADLINE).await.unwrap();
        assert!(alive_tasks() > tasks);
    }
    run_until_idle().await;
    assert_eq!((alive_tasks(), fixture.faults.open(Verb::Watch)), (tasks, 0));
}

#[tokio::test(start_paused = true)]
async fn a_factory_starts_nothing_after_its_shutdown() {
    let fixture = Fixture::new();
    let factory = fixture.factory();
    factory.shutdown().await;
    factory.informer::<ConfigMap>();
    run_until_idle().await;
    let tasks = alive_tasks();
    factory.start();
    assert_eq!(alive_tasks(), tasks);
    factory.wait_for_sync(DEADLINE).await.unwrap_err();
    assert_eq!(fixture.faults.count(Verb::List), 0);
    timeout(DEADLINE, factory.shutdown()).await.expect("a second shutdown returns");
}

#[tokio::test(start_paused = true)]
async fn a_factory_passes_its_options_to_its_informers() {
    let fixture = Fixture::new();
    let everywhere = Api::<ConfigMap>::namespaced(fixture.server.client(), "default");
    for (name, tier) in [("a", "web"), ("b", "cache")] {
        let mut labelled = config_map(name, 1);
        labelled.metadata.labels = Some([("tier".to_owned(), tier.to_owned())].into());
        everywhere.create(&PostParams::default(), &labelled).await.unwrap();
    }
    let factory = InformerFactory::builder(fixture.client())
        .namespaces(["default", "other", "default"])
        .defaults(|config| {
            config
                .memory(super::MEMORY)
                .resync(Duration::from_secs(1))
                .reflector(|reflector| reflector.labels("tier=web"))
        })
        .configure::<ConfigMap>(|config| {
            config.reflector(|reflector| {
                reflector.transform(|map| map.data = self::config_map("", state(map).parse::<i32>().unwrap() * 2).data)
            })
        })
        .configure::<ConfigMap>(|config| config.name("mine"))
        .build();
    let mut received = record_events(&factory.informer::<ConfigMap>());
    let namespaces = factory.informer::<Namespace>();
    factory.start();
    factory.wait_for_sync(DEADLINE).await.unwrap();
    received.expect_events(&["add a=2 (initial)", "update a 2->2"]).await;
    assert_eq!(namespaces.store().len(), 0, "no namespace has the label");
    let lists = ["configmaps", "namespaces"].map(|resource| request_count(&fixture, Verb::List, resource));
    assert_eq!(lists, [2, 1], "a cluster-scoped kind is listed once");
    factory.shutdown().await;
}
