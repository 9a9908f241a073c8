//! Servers whose resource versions go back, as after etcd was restored from a backup.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    WriteGate,
    informer::{Config, SharedInformer},
    object::ObjectKey,
};
use tower::{ServiceExt, service_fn};

use super::fixture::{config_map, record_events, start_synced, state};

/// Creates a client of the first server, and of the second one when the switch is set.
fn switched_client(servers: [ApiServer; 2], is_restored: Arc<AtomicBool>) -> Client {
    let service = service_fn(move |request: http::Request<kube::client::Body>| {
        let [before, after] = &servers;
        let server = if is_restored.load(Ordering::SeqCst) { after } else { before };
        server.clone().oneshot(request)
    });
    Client::new(service, "default")
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_versions_go_back_is_listed_again_with_correct_contents() {
    let servers = [ApiServer::new(), ApiServer::new()];
    let [before, after] = servers.each_ref().map(|server| Api::<ConfigMap>::namespaced(server.client(), "default"));
    let create = async |api: &Api<ConfigMap>, name: &str, state: i32| {
        api.create(&PostParams::default(), &config_map(name, state)).await.unwrap()
    };
    for number in 0..30 {
        create(&before, &format!("map-{number}"), 1).await;
    }
    create(&after, "map-0", 2).await;
    let is_restored = Arc::new(AtomicBool::new(false));
    let api = Api::namespaced(switched_client(servers, Arc::clone(&is_restored)), "default");
    let timeout = Duration::from_secs(200);
    let config = Config::default().reflector(|reflector| reflector.watch_timeout(timeout, timeout));
    let informer = SharedInformer::with_config([api], config.memory(super::MEMORY));
    start_synced(&informer).await;
    let gate = WriteGate::new(informer.store());
    let key = ObjectKey::namespaced("default", "late");
    gate.record_write(&create(&before, "late", 1).await);
    assert_eq!(gate.wait_within(&key, timeout).await, Ok(()));
    gate.record_write(&create(&before, "last", 1).await);
    is_restored.store(true, Ordering::SeqCst);
    // The current watch, and two silent ones.
    tokio::time::sleep(timeout + Duration::from_secs(90 + 90 + 10)).await;
    let stored: Vec<_> = informer.store().list().iter().map(|map| state(map).to_owned()).collect();
    assert_eq!(stored, ["2"], "the objects of the backup");
    let mut received = record_events(&informer);
    received.expect_events(&["add map-0=2 (initial)"]).await;
    assert!(gate.is_caught_up(&ObjectKey::namespaced("default", "last")), "a write of the lost history");
    create(&after, "new", 3).await;
    received.expect_events(&["add new=3"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_back_before_the_first_bookmark_is_listed_again() {
    let servers = [ApiServer::new(), ApiServer::new()];
    let [before, after] = servers.each_ref().map(|server| Api::<ConfigMap>::namespaced(server.client(), "default"));
    for number in 0..30 {
        before.create(&PostParams::default(), &config_map(&format!("map-{number}"), 1)).await.unwrap();
    }
    after.create(&PostParams::default(), &config_map("map-0", 2)).await.unwrap();
    let is_restored = Arc::new(AtomicBool::new(false));
    let api = Api::namespaced(switched_client(servers, Arc::clone(&is_restored)), "default");
    // Watches end before the server sends a bookmark.
    let timeout = Duration::from_secs(50);
    let config = Config::default().reflector(|reflector| reflector.watch_timeout(timeout, timeout));
    let informer = SharedInformer::with_config([api], config.memory(super::MEMORY));
    start_synced(&informer).await;
    is_restored.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(50 + 180 + 50)).await;
    let stored: Vec<_> = informer.store().list().iter().map(|map| state(map).to_owned()).collect();
    assert_eq!(stored, ["2"], "the objects of the backup");
}
