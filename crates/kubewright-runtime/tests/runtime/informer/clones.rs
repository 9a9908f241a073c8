//! Objects are not cloned between the wire and the handlers, however many handlers there are.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kubewright_apiserver::{Fault, Verb};
use kubewright_runtime::informer::{Config, HandlerOptions, SharedInformer};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    MEMORY,
    fixture::{Fixture, impl_resource_of_config_map, run_until_idle},
};

static CLONES: AtomicUsize = AtomicUsize::new(0);

/// A ConfigMap that counts its clones.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Counted(ConfigMap);

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Ordering::SeqCst);
        Counted(self.0.clone())
    }
}

impl_resource_of_config_map!(Counted);

#[tokio::test(start_paused = true)]
async fn objects_are_never_cloned_between_the_wire_and_the_handlers() {
    let fixture = Fixture::new();
    for name in ["a", "b", "gone"] {
        fixture.create(name, 1).await;
    }
    let apis = [Api::<Counted>::namespaced(fixture.client(), "default")];
    let config =
        Config::default().reflector(|reflector| reflector.transform(|map: &mut Counted| map.0.immutable = None));
    let informer = SharedInformer::with_config(apis, config.memory(MEMORY));
    let resyncs = HandlerOptions::new().resync(Duration::from_secs(1)).filter(|map: &Counted| map.0.data.is_some());
    informer.add_event_handler_with(resyncs, |_| {}).unwrap();
    informer.add_event_handler(|_| {}).unwrap();
    let mut events = informer.events().unwrap();
    let running = informer.clone();
    tokio::spawn(async move { running.run(CancellationToken::new()).await.unwrap() });
    for _ in 0..3 {
        events.next().await.unwrap();
    }
    fixture.update("a", 2).await;
    events.next().await.unwrap();
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    fixture.faults.once(Verb::Watch, Fault::expired());
    fixture.faults.end(Verb::Watch);
    fixture.delete("gone").await;
    events.next().await.unwrap();
    let late = informer.add_event_handler(|_| {}).unwrap();
    late.wait_for_sync().await.unwrap();
    run_until_idle().await;
    assert_eq!((informer.store().len(), CLONES.load(Ordering::SeqCst)), (2, 0));
}
