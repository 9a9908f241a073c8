//! Objects are not copied on their way from the wire to the handlers, however many there are.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, Resource};
use logger_apiserver::{Fault, Verb};
use logger_runtime::informer::{Config, HandlerOptions, SharedInformer};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::world::{World, settle};

static CLONES: AtomicUsize = AtomicUsize::new(0);

/// A ConfigMap that counts how often one was cloned.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Counted(ConfigMap);

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Ordering::SeqCst);
        Counted(self.0.clone())
    }
}

impl Resource for Counted {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        ConfigMap::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        ConfigMap::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        ConfigMap::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        ConfigMap::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_never_cloned_between_the_wire_and_the_handlers() {
    let world = World::new();
    for name in ["a", "b", "gone"] {
        world.create(name, 1).await;
    }
    let apis = [Api::<Counted>::namespaced(world.client(), "default")];
    let config =
        Config::default().reflector(|reflector| reflector.transform(|map: &mut Counted| map.0.immutable = None));
    let informer = SharedInformer::with_config(apis, config);
    let resyncs = HandlerOptions::new().resync(Duration::from_secs(1)).filter(|map: &Counted| map.0.data.is_some());
    informer.add_event_handler_with(resyncs, |_| {}).unwrap();
    informer.add_event_handler(|_| {}).unwrap();
    let mut events = informer.events().unwrap();
    let running = informer.clone();
    tokio::spawn(async move { running.run(CancellationToken::new()).await });
    for _ in 0..3 {
        events.next().await.unwrap();
    }
    world.set("a", 2).await;
    events.next().await.unwrap();
    world.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    world.faults.once(Verb::Watch, Fault::expired());
    world.faults.end(Verb::Watch);
    world.delete("gone").await;
    events.next().await.unwrap();
    let late = informer.add_event_handler(|_| {}).unwrap();
    late.wait_for_sync().await.unwrap();
    settle().await;
    assert_eq!((informer.store().len(), CLONES.load(Ordering::SeqCst)), (2, 0));
}
