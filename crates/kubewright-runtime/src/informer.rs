//! The shared informer: one watch of a kind, a store that follows it, and handlers that are notified of every change.

mod coalescing_queue;
mod config;
mod event;
mod generic;
mod handler_options;
mod health;
mod kube_trigger;
mod listener;
mod metrics;
mod namespace_merger;
mod receiver;
mod run;
mod run_guard;
mod shared_processor;
mod stored;

use std::{fmt, sync::Arc, time::Duration};

use kube::{Api, Client};
use kubewright_core::verbs;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use config::{AlreadyStarted, Config, InformerFailed, Stopped, WatchSilent};
pub use event::{AnyObject, Event};
pub use generic::{GenericInformer, GenericLister};
pub use handler_options::{Delivery, HandlerOptions, OnPanic, Overflow};
pub use kube_trigger::KubeTrigger;
pub use listener::{HandlerRegistration, NotSynced};
pub use receiver::Events;

use crate::{
    error::{ObjectError, SkippedObjects, UserCodePanicked},
    object::{ApiObject, resource_name},
    reflector::{Activity, Silence},
    sharding::Sharding,
    store::{Index, IndexError, IndexFunc, IndexValue, Lister, Store},
};
use namespace_merger::NamespaceMerger;
use receiver::{Handler, Receiver};
use shared_processor::SharedProcessor;

/// Maintains a store of the objects of a kind and notifies handlers of changes. Clones are handles of the same
/// informer.
///
/// Guarantees:
/// - there is one watch, no matter how many handlers and listers use it;
/// - the store changes before any handler is notified;
/// - a handler gets the states of an object in the server's order, one call at a time. Handlers do not wait for each
///   other: each has a dedicated task;
/// - a slow handler gets coalesced events: from the last state that it saw to the current one. Its pending events never
///   outnumber the objects;
/// - a handler that is added late first gets all objects of the store, and misses no later event;
/// - a deletion that was missed while the connection was down is reported when it is restored, even if the object was
///   recreated;
/// - a handler that panics is reported and continues;
/// - an object that cannot be decoded, or whose transform panics, is skipped: the store retains its last known state,
///   if there is one, and [`last_error`](Self::last_error) names it until it can be decoded or is deleted. The other
///   objects are not affected. [`DecodeErrorPolicy`](crate::reflector::DecodeErrorPolicy) changes this;
/// - an object whose filter panics is delivered, and one whose index function panics is not in the index;
/// - every panic of user code is reported by `last_error`, the log and a metric, and ends nothing else;
/// - an informer that ends nevertheless has not synced, waiting for it fails, and [`run`](Self::run) returns an error;
/// - after a [removal](HandlerRegistration::remove) is acknowledged, the handler is not called again;
/// - when [`run`](Self::run) returns, every handler has returned from its last call, and no task is left.
///
/// A handler that blocks its thread needs [`HandlerOptions::blocking`]. Asynchronous code can use the
/// [stream](Self::events). A controller adds keys to a [`WorkQueue`](crate::WorkQueue) and processes them in workers.
pub struct SharedInformer<K>(Arc<Shared<K>>);

struct Shared<K> {
    apis: Vec<Api<K>>,
    /// Taken when the informer is run.
    config: Mutex<Option<Config<K>>>,
    store: Store<K>,
    merger: NamespaceMerger<K>,
    processor: Arc<SharedProcessor>,
    skipped: SkippedObjects,
    /// The sharding of the options.
    sharding: Mutex<Option<Sharding>>,
    /// The responses of the server to the reflector of each API.
    activities: Vec<Activity>,
}

/// Reports a panic of user code that was caught.
pub(crate) type PanicReporter = Box<dyn Fn(&UserCodePanicked) + Send + Sync>;

/// Informers that did not sync in time, or cannot sync anymore, with the reasons.
#[derive(Debug, thiserror::Error)]
#[error("not synced after {waited:?}: {}", reasons.join("; "))]
pub struct SyncError {
    /// The time waited.
    pub waited: Duration,
    /// One reason for each informer, with the last error of its requests, if any.
    pub reasons: Vec<String>,
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        SharedInformer(Arc::clone(&self.0))
    }
}

impl<K: ApiObject> SharedInformer<K> {
    /// Creates an informer of these objects. It does nothing until it is [run](Self::run).
    pub fn new(api: Api<K>) -> Self {
        Self::with_config([api], Config::default())
    }

    /// Creates an informer with options, of the objects of one or several APIs. Each has a separate watch, and all
    /// share the store and the handlers. Their objects must be disjoint: give them different namespaces.
    ///
    /// The informer has synced when all are listed. If one cannot be listed, [`why_not_synced`](Self::why_not_synced)
    /// returns the error. A namespace whose list is forbidden does not delay the others: the informer syncs without it,
    /// [`last_error`](Self::last_error) returns the error, and its objects are added when the list is permitted.
    pub fn with_config(apis: impl IntoIterator<Item = Api<K>>, config: Config<K>) -> Self {
        let apis: Vec<_> = apis.into_iter().collect();
        let namespaces: Vec<_> = apis.iter().map(|api| api.namespace().map(str::to_owned)).collect();
        let store = Store::default();
        store.set_namespaces(namespaces.clone());
        let processor = SharedProcessor::new(resource_name::<K>(), Box::new(store.clone()), config.resync);
        SharedInformer(Arc::new(Shared {
            apis,
            sharding: Mutex::new(config.sharding().cloned()),
            config: Mutex::new(Some(config)),
            store,
            activities: namespaces.iter().map(|_| Activity::default()).collect(),
            merger: NamespaceMerger::new(namespaces),
            processor,
            skipped: SkippedObjects::default(),
        }))
    }

    /// Changes the options: selectors, a transform, an error handler.
    ///
    /// # Errors
    /// Fails if the informer was already started.
    pub fn configure(&self, change: impl FnOnce(Config<K>) -> Config<K>) -> Result<(), AlreadyStarted> {
        let mut config = self.0.config.lock();
        let old = config.take().ok_or_else(|| AlreadyStarted { resource: resource_name::<K>() })?;
        let new = config.insert(change(old));
        self.0.processor.set_default_resync(new.resync);
        *self.0.sharding.lock() = new.sharding().cloned();
        Ok(())
    }

    /// Returns the client of its requests; `None` for an informer without APIs.
    pub(crate) fn client(&self) -> Option<Client> {
        self.0.apis.first().map(|api| api.clone().into_client())
    }

    /// Returns the store.
    pub fn store(&self) -> Store<K> {
        self.0.store.clone()
    }

    /// Returns a lister of the store.
    pub fn lister(&self) -> Lister<K>
    where
        K: verbs::List + verbs::Get,
    {
        Lister::new(self.store())
    }

    /// Adds an index to the store, before or after the start.
    ///
    /// # Errors
    /// Fails if there is an index of this name, or the informer was stopped.
    pub fn add_index<V, F>(&self, index: Index<K, V, F>) -> Result<(), IndexError>
    where
        V: IndexValue,
        F: IndexFunc<K, V>,
    {
        self.0.store.add_index(index)
    }

    /// Adds a handler, which gets an `Added` event for each object in the store and then every change. A handler that
    /// is added twice has two registrations.
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn add_event_handler(
        &self,
        handler: impl FnMut(&Event<K>) + Send + 'static,
    ) -> Result<HandlerRegistration, Stopped> {
        self.add_event_handler_with(HandlerOptions::new(), handler)
    }

    /// Adds a handler with options.
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn add_event_handler_with(
        &self,
        options: HandlerOptions<K>,
        mut handler: impl FnMut(&Event<K>) + Send + 'static,
    ) -> Result<HandlerRegistration, Stopped> {
        self.add_handler(options.erase(), Box::new(move |event| handler(&event::downcast(event))))
    }

    /// Adds a handler with an erased kind.
    fn add_handler(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        handler: Handler,
    ) -> Result<HandlerRegistration, Stopped> {
        receiver::add_handler(&self.0.processor, options, handler)
    }

    /// Returns a stream of the events that a handler would get, for asynchronous code.
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn events(&self) -> Result<Events<K>, Stopped> {
        self.events_with(HandlerOptions::new())
    }

    /// Returns a stream of events with options.
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn events_with(&self, options: HandlerOptions<K>) -> Result<Events<K>, Stopped> {
        Ok(Events::new(Receiver::new(&self.0.processor, options.listener, true)?, options.filter))
    }

    /// Returns whether the initial objects are in the store and sent to the handlers, and the informer has not failed.
    /// A [`HandlerRegistration`] reports whether its handler has processed them.
    pub fn has_synced(&self) -> bool {
        self.0.processor.has_synced()
    }

    /// Waits until the informer [has synced](Self::has_synced): forever if it is not run.
    ///
    /// # Errors
    /// Fails if the informer failed, or was stopped before it had synced.
    pub async fn wait_for_sync(&self) -> Result<(), SyncError> {
        let start = Instant::now();
        match self.0.processor.health.wait_for_sync().await {
            true => Ok(()),
            false => Err(SyncError { waited: start.elapsed(), reasons: self.why_not_synced().into_iter().collect() }),
        }
    }

    /// Waits until the informer [has synced](Self::has_synced), with a deadline.
    ///
    /// # Errors
    /// Fails if it has not synced within the deadline, failed or was stopped before, with the reason.
    pub async fn wait_for_sync_within(&self, deadline: Duration) -> Result<(), SyncError> {
        let start = Instant::now();
        drop(tokio::time::timeout(deadline, self.wait_for_sync()).await);
        match self.why_not_synced() {
            None => Ok(()),
            Some(reason) => Err(SyncError { waited: start.elapsed().min(deadline), reasons: vec![reason] }),
        }
    }

    /// Returns the current problem; `None` if there is none. It is the failure of the informer, the last list or watch
    /// error until the next event from the server, the [skipped objects](Self::skipped_objects), or the last panic of
    /// user code until the next event.
    pub fn last_error(&self) -> Option<String> {
        self.0.last_error()
    }

    /// Returns why objects are skipped: they cannot be decoded, or their transform panics. Contains the errors of up to
    /// 100 received objects, and of up to 100 objects that the store holds as [compact bytes](crate::Memory) and cannot
    /// decode.
    pub fn skipped_objects(&self) -> Vec<ObjectError> {
        self.0.skipped_objects()
    }

    /// Returns why the informer failed; `None` if it did not.
    pub fn failure(&self) -> Option<InformerFailed> {
        self.0.processor.health.failure()
    }

    /// Returns why the informer has not synced; `None` if it has.
    pub fn why_not_synced(&self) -> Option<String> {
        if self.has_synced() {
            return None;
        }
        if let Some(failure) = self.failure() {
            return Some(failure.to_string());
        }
        let idle = self.0.processor.idle_reason().map(|reason| format!("{}: {reason}", resource_name::<K>()));
        let reason = idle.or_else(|| self.last_error());
        Some(reason.unwrap_or_else(|| format!("{}: no response yet", resource_name::<K>())))
    }

    /// Returns why the objects may be outdated, with the last error: the informer has not synced, or its lists and
    /// watches have failed for longer than this.
    /// `None` if they are up to date. With several namespaces, all of them must fail: [`last_error`](Self::last_error)
    /// contains the errors of each, and the metric `reflector_failing` shows them.
    pub fn why_outdated(&self, tolerance: Duration) -> Option<String> {
        let failing = self.0.activities.iter().map(|activity| activity.failing().unwrap_or_default()).min();
        let failing = || failing.filter(|failing| *failing > tolerance).map(|failing| self.describe_failing(failing));
        self.why_not_synced().or_else(failing)
    }

    /// Returns whether the informer has not synced because the server rejects its requests as forbidden, in all
    /// namespaces. It syncs when the permission is granted.
    pub fn is_forbidden(&self) -> bool {
        !self.has_synced() && self.0.processor.health.is_forbidden(self.0.apis.len())
    }

    /// Waits until the informer has synced or is forbidden.
    ///
    /// # Errors
    /// As [`wait_for_sync`](Self::wait_for_sync).
    pub(crate) async fn wait_for_sync_or_forbidden(&self) -> Result<(), SyncError> {
        let start = Instant::now();
        match self.0.processor.health.wait_for_sync_or_forbidden(self.0.apis.len()).await {
            true => Ok(()),
            false => Err(SyncError { waited: start.elapsed(), reasons: self.why_not_synced().into_iter().collect() }),
        }
    }

    /// Returns when the initial lists last received objects, or the informer was started; `None` if it has synced or
    /// does not run.
    pub fn sync_progress(&self) -> Option<Instant> {
        match self.has_synced() {
            true => None,
            false => self.0.activities.iter().filter_map(Activity::progressed).max(),
        }
    }

    fn describe_failing(&self, failing: Duration) -> String {
        let error = self.last_error().unwrap_or_else(|| resource_name::<K>());
        format!("{error} (failing for {} s)", failing.as_secs())
    }

    /// Returns an error if the API server has not responded for too long, for a liveness check. The limit is the
    /// longest timeout of a list or watch plus the interval of bookmarks, by default 11 minutes. Errors of the server
    /// are responses, and so is a refused connection. An informer that is not running is not silent.
    ///
    /// # Errors
    /// Fails if a list or watch had no response, event or bookmark for longer than the limit.
    pub fn check_watches(&self) -> Result<(), WatchSilent> {
        let silences = self.0.apis.iter().zip(&self.0.activities).filter_map(|(api, activity)| {
            let Silence { duration, limit } = activity.silence()?;
            let namespace = api.namespace().map(str::to_owned);
            Some(WatchSilent { resource: resource_name::<K>(), namespace, silent: duration, limit })
        });
        silences.max_by_key(|silence| silence.silent).map_or(Ok(()), Err)
    }

    /// Returns the sharding that selects its objects, if there is one.
    pub(crate) fn sharding(&self) -> Option<Sharding> {
        self.0.sharding.lock().clone()
    }

    /// Returns a function that reports a panic of user code that processes the events of this informer. It does not
    /// keep the informer alive.
    pub(crate) fn panic_reporter(&self) -> PanicReporter {
        let processor = Arc::downgrade(&self.0.processor);
        Box::new(move |panicked| processor.upgrade().iter().for_each(|processor| processor.report_panic(panicked)))
    }

    /// Lists, watches and notifies the handlers until cancelled; then waits for their running calls. Errors are logged
    /// and retried with the [back-off](crate::reflector::Config::backoff) of the reflector. A second run, concurrent or
    /// later, returns at once.
    ///
    /// # Errors
    /// Fails if the informer [failed](InformerFailed), for example if a handler that was added with [`OnPanic::Abort`]
    /// panicked.
    pub async fn run(&self, cancelled: CancellationToken) -> Result<(), InformerFailed> {
        self.0.run(cancelled.child_token()).await
    }
}

impl<K> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedInformer").field(&self.0.processor).finish()
    }
}
