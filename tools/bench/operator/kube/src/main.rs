//! The operator of the benchmark on plain kube-runtime. It prints `ready` when its caches have synced.

mod reconciler;

use std::{fmt::Debug, io, sync::Arc};

use anyhow::Result;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Resource,
    runtime::{
        Config, Controller, PredicateConfig, WatchStreamExt, predicates,
        reflector::{self, Store},
        watcher,
    },
};
use logger_types::v2::Logger;
use serde::de::DeserializeOwned;
use tracing_subscriber::filter::LevelFilter;

use crate::reconciler::{Context, reconcile, retry};

/// The number of concurrent reconciliations in all compared programs.
const WORKERS: u16 = 4;

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_max_level(LevelFilter::INFO).with_writer(io::stderr).init();
    let client = Client::try_default().await?;
    let (loggers, logger_events) = cache::<Logger>(Api::all(client.clone()));
    let (config_maps, config_map_events) = cache::<ConfigMap>(Api::all(client.clone()));
    let changes = logger_events.applied_objects().predicate_filter(predicates::generation, PredicateConfig::default());
    let controller = Controller::for_stream(changes, loggers.clone())
        .owns_stream(config_map_events.touched_objects())
        .with_config(Config::default().concurrency(WORKERS))
        .shutdown_on_signal()
        .run(reconcile, retry, Arc::new(Context { client, config_maps: config_maps.clone() }))
        .for_each(|result| {
            if let Err(error) = result {
                tracing::warn!(%error, "the reconciliation failed");
            }
            std::future::ready(())
        });
    let ready = async {
        loggers.wait_until_ready().await?;
        config_maps.wait_until_ready().await?;
        println!("ready");
        anyhow::Ok(())
    };
    let ((), ready) = tokio::join!(controller, ready);
    ready
}

/// Returns a cache of a kind without managedFields, and the events that fill it.
fn cache<K>(api: Api<K>) -> (Store<K>, impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let events = events.modify(|object: &mut K| object.meta_mut().managed_fields = None);
    (store, events.reflect(writer))
}
