//! The store of an informer that runs: own writes are read once it has them, and a stop ends what waits for it.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use logger_apiserver::ApiServer;
use logger_runtime::{
    Index, IndexError, ObjectKey, ResourceVersion, SharedInformer, WaitError, WriteGate, WriteOverlay,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::object;

/// Longer than anything takes: the clock is paused.
const PATIENCE: Duration = Duration::from_secs(60);

const BY_NAME_LENGTH: Index<ConfigMap, usize> =
    Index::new("by_name_length", |map| map.metadata.name.iter().map(String::len).collect());

/// An informer that has synced, and what ends it.
async fn synced() -> (Api<ConfigMap>, SharedInformer<ConfigMap>, CancellationToken, JoinHandle<()>) {
    let maps: Api<ConfigMap> = Api::namespaced(ApiServer::new().client(), "default");
    let (informer, cancelled) = (SharedInformer::new(maps.clone()), CancellationToken::new());
    let (run, token) = (informer.clone(), cancelled.clone());
    let running = tokio::spawn(async move { run.run(token).await });
    timeout(PATIENCE, informer.wait_for_sync()).await.expect("it syncs");
    (maps, informer, cancelled, running)
}

fn key() -> ObjectKey {
    ObjectKey::namespaced("default", "audit")
}

#[tokio::test(start_paused = true)]
async fn s09_a_write_is_read_after_waiting_for_its_version() {
    let (maps, informer, ..) = synced().await;
    let store = informer.store();
    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    let version = ResourceVersion::of(&created).unwrap();
    assert_eq!(store.wait_for_within(&version, PATIENCE).await, Ok(()));
    assert_eq!(store.get_by_key(&key()).unwrap().metadata.uid, created.metadata.uid);
    assert!(store.version() >= Some(version));
}

#[tokio::test(start_paused = true)]
async fn own_writes_hold_their_key_back_until_the_store_has_them_and_are_read_over_it() {
    let (maps, informer, ..) = synced().await;
    let gate = WriteGate::new(informer.store());
    let overlay = WriteOverlay::new(informer.store(), PATIENCE).adding_missing();

    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    gate.written(&created);
    overlay.written(created.clone());
    assert_eq!(overlay.get_by_key(&key()).unwrap().metadata.uid, created.metadata.uid, "at once");
    assert_eq!(gate.wait_within(&key(), PATIENCE).await, Ok(()));
    assert!(informer.store().get_by_key(&key()).is_some());

    maps.delete("audit", &DeleteParams::default()).await.unwrap();
    gate.deleted(&created);
    assert_eq!(gate.wait_within(&key(), PATIENCE).await, Ok(()));
    assert!(informer.store().get_by_key(&key()).is_none() && overlay.get_by_key(&key()).is_none());
}

#[tokio::test(start_paused = true)]
async fn s04_an_index_is_added_while_the_informer_runs_and_not_after_its_stop() {
    let (maps, informer, cancelled, running) = synced().await;
    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    informer.store().wait_for_within(&ResourceVersion::of(&created).unwrap(), PATIENCE).await.unwrap();
    informer.add_index(BY_NAME_LENGTH).unwrap();
    assert_eq!(informer.lister().by_index(&BY_NAME_LENGTH, &5).len(), 1);
    assert_eq!(informer.add_index(BY_NAME_LENGTH), Err(IndexError::NameTaken("by_name_length")));
    cancelled.cancel();
    running.await.unwrap();
    let other = Index::<ConfigMap>::new("other", |_| Vec::new());
    assert_eq!(informer.add_index(other), Err(IndexError::Stopped("other")));
    let waited = informer.store().wait_for(&ResourceVersion::new("999999999")).await;
    assert!(matches!(waited, Err(WaitError::Stopped { .. })), "{waited:?}");
}
