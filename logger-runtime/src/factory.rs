//! The informer factory: one shared informer a kind, started and stopped together.

mod builder;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Client;
use logger_core::verbs;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::builder::InformerFactoryBuilder;
use crate::client::Addressed;
use crate::index::Index;
use crate::informer::SharedInformer;
use crate::object::ApiObject;

/// Makes and runs the informers of a program. Cloning gives another handle on the same factory.
///
/// It promises:
/// - one informer, so one watch of each namespace, for each kind, however often it is asked for: other namespaces or
///   selectors of the same kind are another factory's;
/// - an informer that is asked for after [`start`](Self::start) runs after another, and nothing runs unasked;
/// - [`shutdown`](Self::shutdown) returns when every task it started has ended.
#[derive(Clone)]
pub struct InformerFactory(Arc<Inner>);

struct Inner {
    told: InformerFactoryBuilder,
    informers: Mutex<HashMap<TypeId, Entry>>,
    tasks: TaskTracker,
    cancelled: CancellationToken,
}

struct Entry {
    informer: Box<dyn Informer>,
    running: bool,
}

/// Informers that did not sync in time, each with the reason.
#[derive(Debug, thiserror::Error)]
#[error("not synced after {waited:?}: {}", reasons.join("; "))]
pub struct SyncError {
    /// How long was waited.
    pub waited: Duration,
    /// One for each informer, with the last error from the server if there was one.
    pub reasons: Vec<String>,
}

type BoxFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A shared informer, whatever its kind.
trait Informer: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn boxed_clone(&self) -> Box<dyn Informer>;
    fn run(self: Box<Self>, cancelled: CancellationToken) -> BoxFuture<'static>;
    fn wait_for_sync(&self) -> BoxFuture<'_>;
    fn why_not_synced(&self) -> Option<String>;
}

impl<K: ApiObject> Informer for SharedInformer<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Informer> {
        Box::new(self.clone())
    }

    fn run(self: Box<Self>, cancelled: CancellationToken) -> BoxFuture<'static> {
        Box::pin(async move { SharedInformer::run(&self, cancelled).await })
    }

    fn wait_for_sync(&self) -> BoxFuture<'_> {
        Box::pin(SharedInformer::wait_for_sync(self))
    }

    fn why_not_synced(&self) -> Option<String> {
        SharedInformer::why_not_synced(self)
    }
}

impl InformerFactory {
    /// A factory of informers of all namespaces.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// A factory of informers of one namespace; those of cluster kinds see the whole cluster.
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        Self::builder(client).namespace(namespace).build()
    }

    /// A factory that is told more: several namespaces, selectors, transforms, resyncs, metrics.
    pub fn builder(client: Client) -> InformerFactoryBuilder {
        InformerFactoryBuilder::new(client)
    }

    fn told(told: InformerFactoryBuilder) -> Self {
        InformerFactory(Arc::new(Inner {
            told,
            informers: Mutex::default(),
            tasks: TaskTracker::new(),
            cancelled: CancellationToken::new(),
        }))
    }

    /// The informer of this kind, made when it is first asked for.
    pub fn informer<K>(&self) -> SharedInformer<K>
    where
        K: Addressed + verbs::List + verbs::Watch,
    {
        self.indexed_informer(&[])
    }

    /// The same, with a store that has these indexes.
    pub fn indexed_informer<K>(&self, indexes: &[Index<K>]) -> SharedInformer<K>
    where
        K: Addressed + verbs::List + verbs::Watch,
    {
        let mut informers = self.informers();
        let made = || Entry { informer: Box::new(self.0.told.informer::<K>()), running: false };
        let entry = informers.entry(TypeId::of::<K>()).or_insert_with(made);
        let informer = entry.informer.as_any().downcast_ref::<SharedInformer<K>>();
        let informer = informer.expect("the entry of a kind holds its informer").clone();
        for index in indexes {
            // The same ones are asked for again and again; one that was stopped keeps no other, and looks at every object.
            drop(informer.add_index(*index));
        }
        informer
    }

    /// Runs every informer that was asked for and does not run yet, each on a task of its own.
    pub fn start(&self) {
        let mut informers = self.informers();
        if self.0.cancelled.is_cancelled() {
            return;
        }
        for entry in informers.values_mut().filter(|entry| !entry.running) {
            entry.running = true;
            self.0.tasks.spawn(entry.informer.boxed_clone().run(self.0.cancelled.clone()));
        }
    }

    /// Waits until every informer that was asked for has synced.
    ///
    /// # Errors
    /// One has not within `deadline`: the error says which, and why.
    pub async fn wait_for_sync(&self, deadline: Duration) -> Result<(), SyncError> {
        let informers: Vec<_> = self.informers().values().map(|entry| entry.informer.boxed_clone()).collect();
        let all = futures::future::join_all(informers.iter().map(|informer| informer.wait_for_sync()));
        drop(tokio::time::timeout(deadline, all).await);
        let mut reasons: Vec<_> = informers.iter().filter_map(|informer| informer.why_not_synced()).collect();
        reasons.sort();
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(SyncError { waited: deadline, reasons }),
        }
    }

    /// Stops all informers and waits for them. A factory that was shut down starts none again.
    pub async fn shutdown(&self) {
        {
            // A start on another thread comes before, and is waited for, or after, and starts none.
            let _informers = self.informers();
            self.0.cancelled.cancel();
        }
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn informers(&self) -> MutexGuard<'_, HashMap<TypeId, Entry>> {
        self.0.informers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
