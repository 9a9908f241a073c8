//! An informer of all objects, and what its handler received.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, Config};
use kubewright_runtime::{CancellationToken, Event, HandlerRegistration, Memory, SharedInformer, informer};
use parking_lot::Mutex;
use tests::replica::{Error, OBSERVED};
use tokio::task::JoinSet;

use super::{NAMESPACE, Versions, version, versions};

/// A running informer.
pub(super) struct Observed {
    informer: SharedInformer<ConfigMap>,
    received: Arc<Mutex<Versions>>,
    _handler: HandlerRegistration,
    _tasks: JoinSet<()>,
}

impl Observed {
    /// Starts an informer.
    pub(super) fn start(config: &Config, memory: Memory) -> Result<Self, Error> {
        let api = Api::namespaced(Client::try_from(config.clone())?, NAMESPACE);
        let informer = SharedInformer::with_config([api], informer::Config::default().memory(memory));
        let received = Arc::new(Mutex::new(Versions::new()));
        let versions = Arc::clone(&received);
        let handler = informer.add_event_handler(move |event| {
            let mut versions = versions.lock();
            let (name, version) = version(event.object());
            match event {
                Event::Deleted { .. } => drop(versions.remove(&name)),
                _ => drop(versions.insert(name, version)),
            }
        })?;
        let (mut tasks, running) = (JoinSet::new(), informer.clone());
        tasks.spawn(async move { running.run(CancellationToken::new()).await.expect("no informer fails") });
        Ok(Observed { informer, received, _handler: handler, _tasks: tasks })
    }

    /// Returns whether this number of objects has an observed value.
    pub(super) fn are_reconciled(&self, count: usize) -> bool {
        let maps = self.informer.store().list();
        let is_reconciled = |map: &&Arc<ConfigMap>| map.data.as_ref().is_some_and(|data| data.contains_key(OBSERVED));
        // Replaced objects are reconciled later.
        maps.iter().filter(is_reconciled).count() + count / 50 >= count
    }

    /// Returns the versions in the cache.
    pub(super) fn stored(&self) -> Versions {
        versions(self.informer.store().list().iter().map(AsRef::as_ref))
    }

    /// Returns the versions that the handler received last.
    pub(super) fn received(&self) -> Versions {
        self.received.lock().clone()
    }
}
