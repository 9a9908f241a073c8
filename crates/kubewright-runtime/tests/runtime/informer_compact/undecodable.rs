//! An object that cannot be decoded from its bytes remains stored, and the informer reports it.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{SharedInformer, informer::Config};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    MEMORY,
    fixture::{Fixture, TIMEOUT, config_map, impl_resource_of_config_map, run_until_idle, state},
};

/// More objects of [`PADDING`] bytes than the training of a dictionary needs.
const OBJECTS: usize = 60;
const PADDING: usize = 20_000;
/// A text of this size is decoded at each read.
const LARGE: usize = 300_000;

/// A ConfigMap that serializes the state `7` to a large text that it cannot decode.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
struct Fragile(ConfigMap);

impl Serialize for Fragile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match state(&self.0) {
            "7" => json!({"metadata": self.0.metadata, "data": "x".repeat(LARGE)}).serialize(serializer),
            _ => self.0.serialize(serializer),
        }
    }
}

impl_resource_of_config_map!(Fragile);

fn padded(name: &str) -> ConfigMap {
    let mut random = fastrand::Rng::with_seed(7);
    let mut map = config_map(name, 1);
    let padding = (0..PADDING).map(|_| random.lowercase()).collect();
    map.data.get_or_insert_default().insert("padding".to_owned(), padding);
    map
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_decoded_from_its_bytes_is_reported_until_it_changes_or_is_deleted() {
    let fixture = Fixture::new();
    let maps: Api<ConfigMap> = Api::namespaced(fixture.server.client(), "default");
    for number in 0..OBJECTS {
        maps.create(&PostParams::default(), &padded(&format!("map-{number}"))).await.unwrap();
    }
    let apis = [Api::<Fragile>::namespaced(fixture.client(), "default")];
    let informer = SharedInformer::with_config(apis, Config::default().memory(MEMORY));
    let (sender, mut states) = mpsc::unbounded_channel();
    let handler = informer.add_event_handler(move |event| sender.send(state(&event.object().0).to_owned()).unwrap());
    let running = informer.clone();
    tokio::spawn(async move { running.run(CancellationToken::new()).await.unwrap() });
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    handler.unwrap().wait_for_sync().await.unwrap();
    assert_eq!(std::iter::from_fn(|| states.try_recv().ok()).count(), OBJECTS);

    maps.create(&PostParams::default(), &config_map("bad", 7)).await.unwrap();
    run_until_idle().await;
    let store = informer.store();
    assert_eq!((store.len(), store.list().len(), store.get("default", "bad").is_none()), (OBJECTS + 1, OBJECTS, true));
    assert!(states.try_recv().is_err(), "the handler is not called");
    let error = informer.last_error().unwrap();
    assert!(error.contains("skipped objects of configmaps: cannot decode `default/bad`"), "{error}");
    assert_eq!(informer.skipped_objects().len(), 1);

    let set = async |state: &str| {
        let patch = Patch::Merge(json!({"data": {"state": state}}));
        maps.patch("bad", &PatchParams::default(), &patch).await.unwrap();
        run_until_idle().await;
    };
    set("8").await;
    assert_eq!((states.try_recv().as_deref(), informer.last_error()), (Ok("8"), None));
    set("7").await;
    assert!(informer.last_error().is_some_and(|error| error.contains("default/bad")));
    maps.delete("bad", &DeleteParams::default()).await.unwrap();
    run_until_idle().await;
    assert_eq!((states.try_recv().as_deref(), informer.last_error()), (Ok("7"), None), "the final state is decoded");
    assert_eq!(store.len(), OBJECTS);
}
