//! Churn at the server: objects are created, updated and deleted, one by one or in bursts.

use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{HISTORY, NAMESPACES};

/// The number of object names per namespace.
const NAMES: u32 = 30;

/// Changes objects for this long.
pub(crate) async fn run(client: Client, mut rng: Rng, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        let changes = match rng.u32(..150) {
            // More than the watch history holds.
            0..4 => 2 * HISTORY,
            4..10 => rng.u32(10..60),
            _ => 1,
        };
        for _ in 0..changes {
            change(&client, &mut rng).await;
        }
        sleep(Duration::from_millis(rng.u64(..10_000))).await;
    }
}

/// Makes one change, which the server may reject because the object exists already or does not.
async fn change(client: &Client, rng: &mut Rng) {
    let resource = if rng.bool() { ApiResource::erase::<ConfigMap>(&()) } else { ApiResource::erase::<Secret>(&()) };
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), rng.choice(NAMESPACES).unwrap(), &resource);
    let name = format!("object-{}", rng.u32(..NAMES));
    let annotations = json!({"metadata": {"annotations": {"state": rng.u32(..).to_string()}}});
    let outcome = match rng.u32(..1000) {
        0..300 => api.create(&PostParams::default(), &DynamicObject::new(&name, &resource)).await.map(drop),
        300..800 => api.patch(&name, &PatchParams::default(), &Patch::Merge(annotations)).await.map(drop),
        800..999 => api.delete(&name, &DeleteParams::default()).await.map(drop),
        _ => api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.map(drop),
    };
    match outcome {
        Ok(()) => {}
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
        Err(error) => panic!("{error}"),
    }
}
