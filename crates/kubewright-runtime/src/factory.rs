//! The informer factory: one shared informer per kind, started and stopped together.

mod builder;

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, select_ok, try_join_all},
};
use kube::{Client, core::PartialObjectMeta};
use kubewright_core::{description::InformerDescription, verbs};
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use builder::{AllKinds, InformerFactoryBuilder};

use crate::{
    client::ScopedObject,
    error::panic_message,
    informer::{InformerFailed, SharedInformer, SyncError, WatchSilent},
    object::{ApiObject, resource_name},
    store::Index,
};

/// Creates and runs the informers of a program. Clones are handles of the same factory.
///
/// Guarantees:
/// - there is one informer per kind, so one watch per namespace, no matter how often it is requested. Other namespaces
///   or selectors of a kind need another factory;
/// - an informer that is requested after [`start`](Self::start) runs after another `start`, and no informer runs
///   without a request;
/// - an informer that fails is an error of [`run`](Self::run), [`failed`](Self::failed) and
///   [`wait_for_sync`](Self::wait_for_sync), with its name;
/// - [`shutdown`](Self::shutdown) returns when every task of the factory has ended.
#[derive(Clone)]
pub struct InformerFactory(Arc<Shared>);

struct Shared {
    builder: InformerFactoryBuilder,
    informers: Mutex<HashMap<TypeId, Entry>>,
    tasks: TaskTracker,
    cancelled: CancellationToken,
    /// The first failure of an informer.
    failure: watch::Sender<Option<InformerFailed>>,
}

struct Entry {
    informer: Box<dyn AnyInformer>,
    description: InformerDescription,
    is_running: bool,
}

/// A shared informer, with the kind erased.
trait AnyInformer: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn boxed_clone(&self) -> Box<dyn AnyInformer>;
    fn run(self: Box<Self>, cancelled: CancellationToken) -> BoxFuture<'static, Result<(), InformerFailed>>;
    fn wait_for_sync(&self) -> BoxFuture<'_, Result<(), SyncError>>;
    fn why_not_synced(&self) -> Option<String>;
    fn why_outdated(&self, tolerance: Duration) -> Option<String>;
    fn wait_for_sync_or_forbidden(&self) -> BoxFuture<'_, Result<(), SyncError>>;
    fn sync_progress(&self) -> Option<Instant>;
    fn check_watches(&self) -> Result<(), WatchSilent>;
}

impl<K: ApiObject> AnyInformer for SharedInformer<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn AnyInformer> {
        Box::new(self.clone())
    }

    fn run(self: Box<Self>, cancelled: CancellationToken) -> BoxFuture<'static, Result<(), InformerFailed>> {
        Box::pin(async move {
            let run = AssertUnwindSafe(SharedInformer::run(&self, cancelled));
            run.catch_unwind().await.unwrap_or_else(|panic| {
                let reason = format!("it panicked: {}", panic_message(panic.as_ref()));
                Err(InformerFailed { resource: resource_name::<K>(), name: String::new(), reason })
            })
        })
    }

    fn wait_for_sync(&self) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(SharedInformer::wait_for_sync(self))
    }

    fn why_not_synced(&self) -> Option<String> {
        SharedInformer::why_not_synced(self)
    }

    fn why_outdated(&self, tolerance: Duration) -> Option<String> {
        SharedInformer::why_outdated(self, tolerance)
    }

    fn wait_for_sync_or_forbidden(&self) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(SharedInformer::wait_for_sync_or_forbidden(self))
    }

    fn sync_progress(&self) -> Option<Instant> {
        SharedInformer::sync_progress(self)
    }

    fn check_watches(&self) -> Result<(), WatchSilent> {
        SharedInformer::check_watches(self)
    }
}

impl InformerFactory {
    /// Creates a factory of informers of all namespaces.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// Creates a factory of informers of one namespace. Informers of cluster-scoped kinds are not restricted.
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        Self::builder(client).namespace(namespace).build()
    }

    /// Returns a builder of a factory with custom options: several namespaces, selectors, transforms, resyncs, metrics.
    pub fn builder(client: Client) -> InformerFactoryBuilder {
        InformerFactoryBuilder::new(client)
    }

    fn from_builder(builder: InformerFactoryBuilder) -> Self {
        InformerFactory(Arc::new(Shared {
            builder,
            informers: Mutex::default(),
            tasks: TaskTracker::new(),
            cancelled: CancellationToken::new(),
            failure: watch::Sender::new(None),
        }))
    }

    /// Returns the informer of this kind, creating it at the first request.
    pub fn informer<K>(&self) -> SharedInformer<K>
    where
        K: ScopedObject + verbs::List + verbs::Watch,
    {
        self.indexed_informer(&[])
    }

    /// Returns the informer of this kind with these indexes on its store, creating it at the first request.
    pub fn indexed_informer<K>(&self, indexes: &[Index<K>]) -> SharedInformer<K>
    where
        K: ScopedObject + verbs::List + verbs::Watch,
    {
        self.shared_informer(indexes)
    }

    /// Returns the informer of the metadata of this kind, creating it at the first request: the server sends metadata
    /// only. It suffices for a watch that maps names, labels or owners to keys, such as
    /// [`watches_by`](crate::controller::ControllerBuilder::watches_by).
    pub fn metadata_informer<K>(&self) -> SharedInformer<PartialObjectMeta<K>>
    where
        K: ApiObject + verbs::List + verbs::Watch,
        PartialObjectMeta<K>: ScopedObject,
    {
        self.shared_informer(&[])
    }

    fn shared_informer<K: ScopedObject>(&self, indexes: &[Index<K>]) -> SharedInformer<K> {
        let mut informers = self.0.informers.lock();
        let create = || Entry {
            informer: Box::new(self.0.builder.informer::<K>()),
            description: self.0.builder.describe::<K>(),
            is_running: false,
        };
        let entry = informers.entry(TypeId::of::<K>()).or_insert_with(create);
        let informer = entry.informer.as_any().downcast_ref::<SharedInformer<K>>();
        let informer = informer.expect("the entry of a kind holds its informer").clone();
        for index in indexes {
            // Fails if the index exists, because it was requested before, or the informer is stopped; queries then
            // scan.
            drop(informer.add_index(*index));
        }
        informer
    }

    /// Describes the informers that were requested, by kind. The selectors are those of the builder.
    pub fn describe(&self) -> Vec<InformerDescription> {
        let mut descriptions: Vec<_> =
            self.0.informers.lock().values().map(|entry| entry.description.clone()).collect();
        descriptions.sort();
        descriptions
    }

    /// Runs every informer that was requested and is not running yet, each on a dedicated task.
    pub fn start(&self) {
        let mut informers = self.0.informers.lock();
        if self.0.cancelled.is_cancelled() {
            return;
        }
        for entry in informers.values_mut().filter(|entry| !entry.is_running) {
            entry.is_running = true;
            let run = entry.informer.boxed_clone().run(self.0.cancelled.clone());
            let failure = self.0.failure.clone();
            self.0.tasks.spawn(async move {
                if let Err(failed) = run.await {
                    failure.send_if_modified(|failure| {
                        let is_first = failure.is_none();
                        failure.get_or_insert(failed);
                        is_first
                    });
                }
            });
        }
    }

    /// Starts the requested informers and runs until cancelled; then stops all informers and waits for their tasks.
    /// Informers that are requested later run after a [`start`](Self::start).
    ///
    /// Dropping the future stops all informers without waiting for their tasks.
    ///
    /// # Errors
    /// Fails if an informer failed. The others are stopped, too.
    pub async fn run(&self, cancelled: CancellationToken) -> Result<(), InformerFailed> {
        let _stop_on_drop = self.0.cancelled.clone().drop_guard();
        self.start();
        let failed = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            failed = self.failed() => Some(failed),
        };
        self.shutdown().await;
        failed.map_or(Ok(()), Err)
    }

    /// Waits until an informer fails, and returns its error. Waits forever if none does.
    pub async fn failed(&self) -> InformerFailed {
        let mut failure = self.0.failure.subscribe();
        loop {
            let failed = failure.borrow_and_update().clone();
            match failed {
                Some(failed) => return failed,
                None => failure.changed().await.expect("the sender is borrowed while this waits"),
            }
        }
    }

    /// Waits until every requested informer has synced, with a deadline.
    ///
    /// # Errors
    /// Fails if one has not synced within the deadline, failed or was stopped, with the reasons.
    pub async fn wait_for_sync(&self, deadline: Duration) -> Result<(), SyncError> {
        let start = Instant::now();
        let informers: Vec<_> = self.0.informers.lock().values().map(|entry| entry.informer.boxed_clone()).collect();
        let all = try_join_all(informers.iter().map(|informer| informer.wait_for_sync()));
        drop(tokio::time::timeout(deadline, all).await);
        let reasons = reasons_of(informers.iter().map(Box::as_ref));
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(SyncError { waited: start.elapsed().min(deadline), reasons }),
        }
    }

    /// Waits until every requested informer has synced or [is forbidden](SharedInformer::is_forbidden), and at least
    /// one has synced: one missing permission does not delay the others.
    ///
    /// # Errors
    /// Fails if one failed or was stopped, with the reason.
    pub async fn wait_for_permitted(&self) -> Result<(), SyncError> {
        let informers: Vec<_> = self.0.informers.lock().values().map(|entry| entry.informer.boxed_clone()).collect();
        try_join_all(informers.iter().map(|informer| informer.wait_for_sync_or_forbidden())).await?;
        if informers.is_empty() || informers.iter().any(|informer| informer.why_not_synced().is_none()) {
            return Ok(());
        }
        select_ok(informers.iter().map(|informer| informer.wait_for_sync())).await.map(|_| ())
    }

    /// Returns when the initial lists last received objects, or an informer was started;
    /// `None` if all have synced or none runs. See [`SharedInformer::sync_progress`].
    pub fn sync_progress(&self) -> Option<Instant> {
        self.0.informers.lock().values().filter_map(|entry| entry.informer.sync_progress()).max()
    }

    /// Returns whether the objects of any requested informer are up to date. See [`SharedInformer::why_outdated`].
    pub fn is_any_up_to_date(&self, tolerance: Duration) -> bool {
        self.0.informers.lock().values().any(|entry| entry.informer.why_outdated(tolerance).is_none())
    }

    /// Returns why the requested informers have not synced, with the last error of their requests; empty if all have.
    pub fn why_not_synced(&self) -> Vec<String> {
        reasons_of(self.0.informers.lock().values().map(|entry| entry.informer.as_ref()))
    }

    /// Returns why the objects of requested informers may be outdated; empty if none are. See
    /// [`SharedInformer::why_outdated`].
    pub fn why_outdated(&self, tolerance: Duration) -> Vec<String> {
        let informers = self.0.informers.lock();
        let mut reasons: Vec<_> =
            informers.values().filter_map(|entry| entry.informer.why_outdated(tolerance)).collect();
        reasons.sort();
        reasons
    }

    /// Returns an error if the API server has not responded to an informer for too long. See
    /// [`SharedInformer::check_watches`].
    ///
    /// # Errors
    /// Fails if a list or watch had no response for longer than its limit. The error is that of the longest silence.
    pub fn check_watches(&self) -> Result<(), WatchSilent> {
        let informers = self.0.informers.lock();
        let silences = informers.values().filter_map(|entry| entry.informer.check_watches().err());
        silences.max_by_key(|silence| silence.silent).map_or(Ok(()), Err)
    }

    /// Stops all informers and waits for their tasks. The factory cannot be started again.
    pub async fn shutdown(&self) {
        {
            // A concurrent start on another thread runs before this and is waited for, or after it and starts nothing.
            let _informers = self.0.informers.lock();
            self.0.cancelled.cancel();
        }
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

fn reasons_of<'a>(informers: impl Iterator<Item = &'a (dyn AnyInformer + 'static)>) -> Vec<String> {
    let mut reasons: Vec<_> = informers.filter_map(|informer| informer.why_not_synced()).collect();
    reasons.sort();
    reasons
}
