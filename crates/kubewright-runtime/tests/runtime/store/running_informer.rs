//! The store of a running informer: waiting for own writes, and indexes.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Index, IndexError, ObjectKey, ResourceVersion, SharedInformer, WaitError, WriteGate, informer::Config,
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{MEMORY, fixture::object};

/// Exceeds every wait: the clock is paused.
const TIMEOUT: Duration = Duration::from_secs(60);

const BY_NAME_LENGTH: Index<ConfigMap, usize> =
    Index::new("by_name_length", |map| map.metadata.name.iter().map(String::len).collect());

/// Starts an informer and waits until it has synced.
async fn start_synced() -> (Api<ConfigMap>, SharedInformer<ConfigMap>, CancellationToken, JoinHandle<()>) {
    let maps: Api<ConfigMap> = Api::namespaced(ApiServer::new().client(), "default");
    let informer = SharedInformer::with_config([maps.clone()], Config::default().memory(MEMORY));
    let cancelled = CancellationToken::new();
    let (run, token) = (informer.clone(), cancelled.clone());
    let running = tokio::spawn(async move { run.run(token).await.expect("the informer runs until it is stopped") });
    timeout(TIMEOUT, informer.wait_for_sync()).await.expect("sync before the timeout").expect("sync");
    (maps, informer, cancelled, running)
}

fn key() -> ObjectKey {
    ObjectKey::namespaced("default", "audit")
}

#[tokio::test(start_paused = true)]
async fn s09_a_write_is_readable_after_waiting_for_its_version() {
    let (maps, informer, ..) = start_synced().await;
    let store = informer.store();
    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    let version = ResourceVersion::from_object(&created).unwrap();
    assert_eq!(store.wait_for_within(&version, TIMEOUT).await, Ok(()));
    assert_eq!(store.get_by_key(&key()).unwrap().metadata.uid, created.metadata.uid);
    assert!(store.resource_version() >= Some(version));
}

#[tokio::test(start_paused = true)]
async fn a_gate_covers_own_writes_until_the_store_has_them() {
    let (maps, informer, ..) = start_synced().await;
    let gate = WriteGate::new(informer.store());

    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    gate.record_write(&created);
    assert_eq!(gate.wait_within(&key(), TIMEOUT).await, Ok(()));
    assert!(informer.store().get_by_key(&key()).is_some());

    maps.delete("audit", &DeleteParams::default()).await.unwrap();
    gate.record_delete(&created);
    assert_eq!(gate.wait_within(&key(), TIMEOUT).await, Ok(()));
    assert!(informer.store().get_by_key(&key()).is_none());
}

#[tokio::test(start_paused = true)]
async fn s04_an_index_can_be_added_to_a_running_informer_and_not_to_a_stopped_one() {
    let (maps, informer, cancelled, running) = start_synced().await;
    let created = maps.create(&PostParams::default(), &object("default", "audit")).await.unwrap();
    informer.store().wait_for_within(&ResourceVersion::from_object(&created).unwrap(), TIMEOUT).await.unwrap();
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

#[tokio::test(start_paused = true)]
async fn a_waiter_returns_when_the_object_meets_the_condition() {
    let (maps, informer, cancelled, running) = start_synced().await;
    let lister = informer.lister();
    let namespaced = lister.namespace("default");
    let (key, map) = (key(), object("default", "audit"));
    let (create, delete) = (PostParams::default(), DeleteParams::default());
    let exists = lister.wait_until(&key, TIMEOUT, |map| map.is_some());
    let (created, exists) = tokio::join!(maps.create(&create, &map), exists);
    assert_eq!(exists.unwrap().unwrap().metadata.uid, created.unwrap().metadata.uid);
    let is_gone = namespaced.wait_until("audit", TIMEOUT, |map| map.is_none());
    let (deleted, is_gone) = tokio::join!(maps.delete("audit", &delete), is_gone);
    deleted.unwrap();
    assert_eq!(is_gone, Ok(None));
    let error = namespaced.wait_until("audit", TIMEOUT, |map| map.is_some()).await.unwrap_err();
    assert!(matches!(error, WaitError::Timeout { waited: TIMEOUT, .. }), "{error}");
    let store = informer.store();
    let never = store.wait_until(&key, |map| map.is_some());
    let stop = async {
        cancelled.cancel();
        running.await.unwrap();
    };
    let (error, ()) = tokio::join!(never, stop);
    assert!(matches!(error, Err(WaitError::Stopped { .. })));
}
