//! Nothing begins before the informers have synced.

use std::time::Duration;

use k8s_openapi::api::storage::v1::CSIStorageCapacity;
use logger_runtime::SharedInformer;
use logger_runtime::controller::{Controller, RunError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::stage::{Running, Stage, diary, noting};

#[tokio::test(start_paused = true)]
async fn no_work_begins_before_every_informer_has_synced() {
    let stage = Stage::new();
    stage.config_map("a").await;
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).owns(&stage.secrets);
    let running = Running::new(builder.build(noting(diary)));
    let (alone, secrets) = (CancellationToken::new(), stage.secrets.clone());
    let informer = tokio::spawn({
        let (config_maps, alone) = (stage.config_maps.clone(), alone.clone());
        async move { config_maps.run(alone).await }
    });
    stage.config_maps.wait_for_sync().await;
    assert!(reader.is_silent().await, "the other has not synced");
    let cancelled = alone.clone();
    let other = tokio::spawn(async move { secrets.run(cancelled).await });
    assert_eq!(reader.next_key().await, "default/a");
    running.stop().await.unwrap();
    alone.cancel();
    informer.await.unwrap();
    other.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_does_not_sync_is_an_error_that_names_it_and_why() {
    let stage = Stage::new();
    let capacities: SharedInformer<CSIStorageCapacity> = stage.factory.informer();
    stage.factory.start();
    let never: SharedInformer<k8s_openapi::api::core::v1::Pod> = stage.factory.informer();
    let builder = Controller::for_informer("web", &stage.config_maps).owns(&capacities).watches(&never, |_| []);
    let controller = builder.build(noting(diary().0));
    let began = Instant::now();
    let error = controller.run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 120, "two minutes, as in controller-runtime");
    let text = error.to_string();
    let begins = "controller `web` cannot begin: not synced after 120s: ";
    assert!(text.starts_with(begins), "{text}");
    for part in ["csistoragecapacities.storage.k8s.io", "does not serve", "pods: not started"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("configmaps"), "what has synced is not named: {text}");
    let RunError::NotSynced { controller, waited, reasons } = error else { panic!("{error}") };
    assert_eq!((controller.as_str(), waited.as_secs(), reasons.len()), ("web", 120, 2));
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_has_stopped_is_an_error_at_once() {
    let stage = Stage::started();
    let before = Controller::for_informer("before", &stage.secrets).build(noting(diary().0));
    stage.factory.shutdown().await;
    let after = Controller::for_informer("after", &stage.config_maps).build(noting(diary().0));
    let began = Instant::now();
    for (controller, resource) in [(before, "secrets"), (after, "configmaps")] {
        let name = controller.name().to_owned();
        let error = controller.run(CancellationToken::new()).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("controller `{name}` cannot begin: not synced after 0ns: ")), "{error}");
        assert!(error.contains(resource) && error.contains("stopped"), "{error}");
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_sync_timeout_can_be_chosen_and_a_stop_ends_the_wait() {
    let stage = Stage::new();
    let build = || {
        let builder = Controller::for_informer("test", &stage.config_maps).sync_timeout(Duration::from_secs(5));
        builder.build(noting(diary().0))
    };
    let began = Instant::now();
    build().run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 5);
    Running::new(build()).stop().await.expect("a stop is no error");
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_queue_fills_before_the_run_so_that_a_replica_that_waits_is_warm() {
    let stage = Stage::new();
    stage.config_map("a").await;
    stage.config_map("b").await;
    stage.factory.start();
    let (diary, mut reader) = diary();
    let controller = Controller::for_informer("test", &stage.config_maps).build(noting(diary));
    controller.wait_for_sync().await.unwrap();
    assert_eq!(controller.queue().len(), 2);
    assert!(reader.is_silent().await, "but no work begins");
    let running = Running::new(controller);
    assert_eq!((reader.next_key().await, reader.next_key().await), ("default/a".into(), "default/b".into()));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_factory_that_it_is_given_is_started_by_the_run() {
    let stage = Stage::new();
    stage.config_map("a").await;
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).starting(&stage.factory);
    let controller = builder.build(noting(diary));
    assert!(reader.is_silent().await && !stage.config_maps.has_synced(), "building starts nothing");
    let running = Running::new(controller);
    assert_eq!(reader.next_key().await, "default/a");
    running.stop().await.unwrap();
}
