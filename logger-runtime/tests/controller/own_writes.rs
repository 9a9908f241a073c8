//! The gate: no work on a key before the cache has what was written of it.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use logger_runtime::controller::{Controller, ReconcileError};
use logger_runtime::{ObjectKey, WriteGate};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::{Running, Stage, diary, noting};

/// A stage whose informer of Secrets, which are what is written, does not run yet.
async fn lagging() -> (Stage, WriteGate<Secret>, CancellationToken) {
    let (stage, cancelled) = (Stage::new(), CancellationToken::new());
    let (config_maps, until) = (stage.config_maps.clone(), cancelled.clone());
    tokio::spawn(async move { config_maps.run(until).await });
    for name in ["a", "b"] {
        stage.config_map(name).await;
    }
    let gate = WriteGate::new(stage.secrets.store());
    (stage, gate, cancelled)
}

#[tokio::test(start_paused = true)]
async fn a_key_is_not_worked_on_before_the_cache_has_what_was_written_of_it_and_others_are() {
    let (stage, gate, cancelled) = lagging().await;
    gate.written(&stage.create::<Secret>("a", json!({})).await);
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).read_your_writes(&gate);
    let running = Running::new(builder.build(noting(diary)));
    assert_eq!(reader.next_key().await, "default/b");
    assert!(reader.is_silent().await);
    stage.touch("b", "changed").await;
    assert_eq!(reader.next_key().await, "default/b", "a key that waits takes no worker");
    let secrets = stage.secrets.clone();
    tokio::spawn(async move { secrets.run(cancelled).await });
    assert_eq!(reader.next_key().await, "default/a");
    assert!(reader.is_silent().await, "and once only");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_gate_of_objects_with_other_names_says_which() {
    let (stage, gate, cancelled) = lagging().await;
    gate.written(&stage.create::<Secret>("a-token", json!({})).await);
    let token_of = |key: &ObjectKey| [ObjectKey::namespaced(key.namespace(), &format!("{}-token", key.name()))];
    let (diary, mut reader) = diary();
    let builder = Controller::for_informer("test", &stage.config_maps).read_your_writes_of(&gate, token_of);
    let running = Running::new(builder.build(noting(diary)));
    assert_eq!(reader.next_key().await, "default/b");
    assert!(reader.is_silent().await);
    let secrets = stage.secrets.clone();
    tokio::spawn(async move { secrets.run(cancelled).await });
    assert_eq!(reader.next_key().await, "default/a");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_the_cache() {
    let (stage, gate, _cancelled) = lagging().await;
    gate.written(&stage.create::<Secret>("a", json!({})).await);
    let builder = Controller::for_informer("test", &stage.config_maps).read_your_writes(&gate);
    let work = |_| async { Ok::<_, ReconcileError>(()) };
    let running = Running::new(builder.grace_period(Duration::ZERO).build(work));
    tokio::time::sleep(Duration::from_millis(10)).await;
    running.stop().await.expect("nothing is at work");
}
