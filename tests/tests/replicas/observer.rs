//! The writes that the API server accepted, in its order.

use std::{collections::HashMap, pin::pin};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
};
use libtest_mimic::Failed;
use tests::replica::WRITER;
use tokio::{runtime::Runtime, task::JoinHandle};

/// The name of the object that ends the observation.
const LAST: &str = "last";
/// How long one watch lasts, in seconds: less than the maximum of kube.
const WATCH_SECONDS: u32 = 240;

/// Observes the writes of replicas. A watch of the API server reports every version of an object, in the order of the
/// writes.
pub(super) struct Observer {
    api: Api<ConfigMap>,
    task: JoinHandle<Result<Vec<String>, Failed>>,
}

impl Observer {
    /// Starts to observe the writes from now on.
    pub(super) fn start(runtime: &Runtime, api: Api<ConfigMap>) -> Result<Self, Failed> {
        let list = runtime.block_on(api.list(&ListParams::default()))?;
        let version = list.metadata.resource_version.ok_or("a list without a version")?;
        let task = runtime.spawn(observe(api.clone(), version));
        Ok(Observer { api, task })
    }

    /// Ends the observation, and returns the identities of the writers of all writes up to now.
    pub(super) fn end(self, runtime: &Runtime) -> Result<Vec<String>, Failed> {
        let mut last = ConfigMap::default();
        last.metadata.name = Some(LAST.to_owned());
        runtime.block_on(async {
            self.api.create(&PostParams::default(), &last).await?;
            self.task.await?
        })
    }
}

/// Watches until the last object is created.
async fn observe(api: Api<ConfigMap>, mut version: String) -> Result<Vec<String>, Failed> {
    let (mut writers, mut writes) = (Vec::new(), HashMap::<String, String>::new());
    loop {
        let options = WatchParams::default().timeout(WATCH_SECONDS);
        let mut events = pin!(api.watch(&options, &version).await?);
        let mut latest = None;
        while let Some(event) = events.next().await {
            match event? {
                WatchEvent::Added(map) | WatchEvent::Modified(map) => {
                    if map.name_any() == LAST {
                        return Ok(writers);
                    }
                    latest = map.resource_version();
                    writers.extend(new_writer(&map, &mut writes));
                }
                WatchEvent::Bookmark(bookmark) => latest = Some(bookmark.metadata.resource_version),
                WatchEvent::Deleted(_) => {}
                WatchEvent::Error(status) => return Err(format!("the watch failed: {status:?}").into()),
            }
        }
        version = latest.unwrap_or(version);
    }
}

/// Returns the identity of the replica that wrote this version of an object; `None` if another client did.
fn new_writer(map: &ConfigMap, writes: &mut HashMap<String, String>) -> Option<String> {
    let write = map.data.as_ref()?.get(WRITER)?;
    let previous = writes.insert(map.name_any(), write.clone());
    let (identity, _number) = write.split_once('/')?;
    (previous.as_ref() != Some(write)).then(|| identity.to_owned())
}
