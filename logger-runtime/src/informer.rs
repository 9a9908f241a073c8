//! The shared informer: one watch of a kind, a store that follows it, and handlers that hear of every change.

mod backlog;
mod config;
mod event;
mod follow;
mod hub;
mod inbox;
mod join;
mod kube;
mod listener;
mod measured;
mod options;
mod running;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::kube::Api;
use logger_core::verbs;
use tokio_util::sync::CancellationToken;

use crate::factory::SyncError;
use crate::index::{Index, IndexError, IndexFunction, IndexValue};
use crate::lister::Lister;
use crate::object::{ApiObject, resource};
use crate::store::Store;

pub use self::kube::KubeTrigger;
pub use config::{Config, Started, Stopped};
pub(crate) use event::erased;
pub use event::{AnyObject, Event};
pub use inbox::Events;
pub use listener::{NotSynced, Registration};
pub use options::{Delivery, HandlerOptions, OnPanic, Overflow};

use hub::Hub;
use inbox::Handler;
use join::Join;

/// Keeps a store of a kind's objects and tells handlers what changes. Cloning gives another handle on the same informer.
///
/// It promises:
/// - one watch, however many handlers and listers use it;
/// - the store has changed before any handler hears of it;
/// - a handler hears of one object's states in the server's order, one call at a time, and waits for no other handler: each
///   runs on a task of its own;
/// - a handler that does not keep up hears of each object from the state it knows to the latest: what waits for it never
///   grows beyond the objects there are;
/// - a handler that comes late first hears of everything in the store, and misses nothing after;
/// - a deletion that was missed while the connection was down is told when it is back, also if the name was taken again;
/// - a handler that panics is logged and goes on;
/// - after a [removal](Registration::remove) is acknowledged, that handler is not called again;
/// - when [`run`](Self::run) returns, every handler has returned from its last call, and no task is left.
///
/// A handler that blocks its thread says so: [`HandlerOptions::blocking`]. One that awaits takes the [stream](Self::events).
/// A controller puts the key into a [`WorkQueue`](crate::WorkQueue) and works elsewhere.
pub struct SharedInformer<K>(Arc<Shared<K>>);

struct Shared<K> {
    apis: Vec<Api<K>>,
    /// Taken by the run.
    config: Mutex<Option<Config<K>>>,
    store: Store<K>,
    join: Join<K>,
    hub: Arc<Hub>,
    last_error: Mutex<Option<String>>,
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        SharedInformer(Arc::clone(&self.0))
    }
}

impl<K: ApiObject> SharedInformer<K> {
    /// An informer of these objects. It does nothing until it is [run](Self::run).
    pub fn new(api: Api<K>) -> Self {
        Self::with_config([api], Config::default())
    }

    /// An informer that is told more, of the objects of one `Api` or of several: each has a watch of its own, and all share the
    /// store and the handlers. No two may have objects in common: give them different namespaces.
    ///
    /// It has synced when all are listed. A namespace that may not be listed keeps it from that, and
    /// [`why_not_synced`](Self::why_not_synced) says so.
    pub fn with_config(apis: impl IntoIterator<Item = Api<K>>, config: Config<K>) -> Self {
        let apis: Vec<_> = apis.into_iter().collect();
        let namespaces = apis.iter().map(|api| api.namespace().map(str::to_owned)).collect();
        let store = Store::default();
        let hub = Hub::new(resource::<K>(), Box::new(store.clone()), config.resync);
        SharedInformer(Arc::new(Shared {
            apis,
            config: Mutex::new(Some(config)),
            store,
            join: Join::new(namespaces),
            hub,
            last_error: Mutex::default(),
        }))
    }

    /// Changes what it was told: selectors, a transform, what hears of errors.
    ///
    /// # Errors
    /// It was started.
    pub fn configure(&self, change: impl FnOnce(Config<K>) -> Config<K>) -> Result<(), Started> {
        let mut config = lock(&self.0.config);
        let old = config.take().ok_or_else(|| Started { resource: resource::<K>() })?;
        let new = config.insert(change(old));
        self.0.hub.resync_by_default(new.resync);
        Ok(())
    }

    /// The objects as last seen.
    pub fn store(&self) -> Store<K> {
        self.0.store.clone()
    }

    /// Reads the objects as last seen.
    pub fn lister(&self) -> Lister<K>
    where
        K: verbs::List + verbs::Get,
    {
        Lister::new(self.store())
    }

    /// Has the store kept by this index too, also after the start.
    ///
    /// # Errors
    /// There is an index of this name, or the informer was stopped.
    pub fn add_index<V, F>(&self, index: Index<K, V, F>) -> Result<(), IndexError>
    where
        V: IndexValue,
        F: IndexFunction<K, V>,
    {
        self.0.store.add_index(index)
    }

    /// Has this called with every change from now on, after an `Added` for everything that is in the store. The same handler
    /// added twice is two.
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn add_event_handler(&self, handler: impl FnMut(&Event<K>) + Send + 'static) -> Result<Registration, Stopped> {
        self.add_event_handler_with(HandlerOptions::new(), handler)
    }

    /// The same, for a handler that wants to hear in another way.
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn add_event_handler_with(
        &self,
        options: HandlerOptions<K>,
        mut handler: impl FnMut(&Event<K>) + Send + 'static,
    ) -> Result<Registration, Stopped> {
        self.listen(options.erased(), Box::new(move |event| handler(&event::typed(event))))
    }

    /// Adds a handler of objects whose kind it does not know.
    pub(crate) fn listen(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        handler: Handler,
    ) -> Result<Registration, Stopped> {
        self.0.hub.listen(options, handler)
    }

    /// What happens to the objects, as a stream: what a handler would hear, in the same way, for those who await.
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn events(&self) -> Result<Events<K>, Stopped> {
        self.events_with(HandlerOptions::new())
    }

    /// The same, heard in another way.
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn events_with(&self, options: HandlerOptions<K>) -> Result<Events<K>, Stopped> {
        Ok(Events::new(self.0.hub.join(options.hearing, true)?, options.filter))
    }

    /// Whether the objects that were there at the start are in the store and handed to the handlers. Whether a handler has
    /// returned from them tells its [`Registration`].
    pub fn has_synced(&self) -> bool {
        self.0.hub.has_synced()
    }

    /// Waits until it [has synced](Self::has_synced): for ever if it is never run, or stops before.
    pub async fn wait_for_sync(&self) {
        self.0.hub.wait_for_sync().await;
    }

    /// Waits until it [has synced](Self::has_synced), but no longer than this.
    ///
    /// # Errors
    /// It has not: the error says why.
    pub async fn wait_for_sync_within(&self, deadline: Duration) -> Result<(), SyncError> {
        drop(tokio::time::timeout(deadline, self.wait_for_sync()).await);
        match self.why_not_synced() {
            None => Ok(()),
            Some(reason) => Err(SyncError { waited: deadline, reasons: vec![reason] }),
        }
    }

    /// What last went wrong on the way to the server, with the kind it is about; `None` since the server last told of
    /// an object or of all.
    pub fn last_error(&self) -> Option<String> {
        lock(&self.0.last_error).clone()
    }

    /// Why it has not synced; `None` if it has.
    pub fn why_not_synced(&self) -> Option<String> {
        if self.has_synced() {
            return None;
        }
        let idle = self.0.hub.why_idle().map(|why| format!("{}: {why}", resource::<K>()));
        let why = idle.or_else(|| self.last_error());
        Some(why.unwrap_or_else(|| format!("{}: no answer yet", resource::<K>())))
    }

    /// Lists, watches and tells the handlers until cancelled; then waits for the handlers that are in a call. Errors are
    /// logged and retried, as the [reflector](crate::reflector::Config::backoff) is told. A second run, at the same time or
    /// later, returns at once.
    ///
    /// # Panics
    /// With what a handler panicked with that was added with [`OnPanic::Abort`].
    pub async fn run(&self, cancelled: CancellationToken) {
        self.0.run(cancelled.child_token()).await;
    }
}

impl<K> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedInformer").field(&self.0.hub).finish()
    }
}

/// What these locks guard is whole at every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
