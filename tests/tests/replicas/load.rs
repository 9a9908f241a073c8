//! The load: ConfigMaps whose desired value changes.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use libtest_mimic::Failed;
use serde_json::json;
use tests::replica::DESIRED;
use tokio::{
    runtime::Runtime,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// The number of objects that are created concurrently.
const CREATIONS: usize = 16;
/// The time between two changes.
const INTERVAL: Duration = Duration::from_millis(20);

/// The desired value of each object by name.
pub(super) type Values = BTreeMap<String, String>;

/// Changes objects until it is stopped.
pub(super) struct Load {
    stop: CancellationToken,
    task: JoinHandle<Result<Values, kube::Error>>,
}

impl Load {
    /// Creates the objects, and then changes random ones in a task.
    pub(super) fn start(runtime: &Runtime, api: Api<ConfigMap>, count: usize, rng: Rng) -> Result<Self, Failed> {
        let values = runtime.block_on(create(&api, count))?;
        let stop = CancellationToken::new();
        let task = runtime.spawn(change(api, values, rng, stop.clone()));
        Ok(Load { stop, task })
    }

    /// Stops the changes, and returns the desired values.
    pub(super) fn stop(self, runtime: &Runtime) -> Result<Values, Failed> {
        self.stop.cancel();
        Ok(runtime.block_on(self.task)??)
    }
}

async fn create(api: &Api<ConfigMap>, count: usize) -> Result<Values, kube::Error> {
    let names = (0..count).map(|number| format!("map-{number}"));
    let create = |name: String| async move {
        let value = "0".to_owned();
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.clone());
        map.data = Some(BTreeMap::from([(DESIRED.to_owned(), value.clone())]));
        api.create(&PostParams::default(), &map).await.map(|_| (name, value))
    };
    stream::iter(names).map(create).buffer_unordered(CREATIONS).try_collect().await
}

async fn change(
    api: Api<ConfigMap>,
    mut values: Values,
    mut rng: Rng,
    stop: CancellationToken,
) -> Result<Values, kube::Error> {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let count = values.len();
    let mut next = 1_u64;
    while !stop.is_cancelled() {
        ticks.tick().await;
        let (name, value) = (format!("map-{}", rng.usize(..count)), next.to_string());
        let patch = Patch::Merge(json!({ "data": { DESIRED: value } }));
        api.patch(&name, &PatchParams::default(), &patch).await?;
        values.insert(name, value);
        next += 1;
    }
    Ok(values)
}
