//! The shared informer: one watch of a kind, a store that follows it, and handlers that hear of every change.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use kube::Api;
use logger_core::verbs;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::index::{Index, IndexError, IndexValue};
use crate::lister::Lister;
use crate::object::{ApiObject, resource};
use crate::reflector::{self, Reflector};
use crate::store::{Change, Store};

/// What happened to an object.
#[derive(Debug)]
pub enum Event<K: ?Sized> {
    /// It is there now.
    Added {
        /// The object.
        object: Arc<K>,
        /// It was there before this handler or the informer began.
        initial: bool,
    },
    /// It changed.
    Updated {
        /// What it was when the store last had it: states between may have been missed.
        old: Arc<K>,
        /// What it is.
        new: Arc<K>,
    },
    /// It is gone.
    Deleted {
        /// Its final state, or the last one known if the deletion itself was missed.
        object: Arc<K>,
        /// The deletion itself was missed, as while the connection was down.
        final_state_unknown: bool,
    },
}

impl<K: ?Sized> Event<K> {
    /// The object, as it now is or last was.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Event::Added { object, .. } | Event::Deleted { object, .. } | Event::Updated { new: object, .. } => object,
        }
    }
}

/// Keeps a store of a kind's objects and tells handlers what changes. Cloning gives another handle on the same informer.
///
/// It promises:
/// - one watch, however many handlers and listers use it;
/// - the store has changed before any handler hears of it;
/// - a handler hears of one object's states in the server's order, one call at a time;
/// - a handler that comes late first hears of everything in the store, and misses nothing after;
/// - a deletion that was missed while the connection was down is told when it is back, also if the name was taken again;
/// - a handler that panics is logged and goes on;
/// - after [`remove_event_handler`](Self::remove_event_handler) returns, that handler is not called again.
///
/// Handlers run one after the other on the informer's task. So they should be quick: put the key into a
/// [`WorkQueue`](crate::WorkQueue) and work elsewhere. A handler must not add or remove handlers.
pub struct SharedInformer<K>(Arc<Shared<K>>);

/// Names a handler that was added, to remove it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration(u64);

type Handler<K> = Box<dyn Fn(&Event<K>) + Send + Sync>;

struct Shared<K> {
    api: Api<K>,
    store: Store<K>,
    /// Held while the store changes and its handlers hear of it, so that a late handler's replay falls between.
    handlers: Mutex<Handlers<K>>,
    synced: watch::Sender<bool>,
    last_error: Mutex<Option<String>>,
    started: AtomicBool,
}

struct Handlers<K> {
    next: u64,
    all: Vec<(Registration, Handler<K>)>,
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        SharedInformer(Arc::clone(&self.0))
    }
}

impl<K> SharedInformer<K>
where
    K: ApiObject,
{
    /// An informer of these objects. It does nothing until it is [run](Self::run).
    pub fn new(api: Api<K>) -> Self {
        SharedInformer(Arc::new(Shared {
            api,
            store: Store::default(),
            handlers: Mutex::new(Handlers { next: 0, all: Vec::new() }),
            synced: watch::Sender::new(false),
            last_error: Mutex::default(),
            started: AtomicBool::new(false),
        }))
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
    pub fn add_index<V: IndexValue>(&self, index: Index<K, V>) -> Result<(), IndexError> {
        self.0.store.add_index(index)
    }

    /// Has this called with every change from now on, after an `Added` for everything that is in the store.
    pub fn add_event_handler(&self, handler: impl Fn(&Event<K>) + Send + Sync + 'static) -> Registration {
        let mut handlers = lock(&self.0.handlers);
        let registration = Registration(handlers.next);
        handlers.next += 1;
        let handler: Handler<K> = Box::new(handler);
        for object in self.0.store.list() {
            call(&handler, &Event::Added { object, initial: true });
        }
        handlers.all.push((registration, handler));
        registration
    }

    /// Calls this handler no more. A second removal does nothing.
    pub fn remove_event_handler(&self, registration: Registration) {
        lock(&self.0.handlers).all.retain(|(known, _)| *known != registration);
    }

    /// Whether the objects that were there at the start are in the store and every handler has heard of them.
    pub fn has_synced(&self) -> bool {
        *self.0.synced.borrow()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    pub async fn wait_for_sync(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.0.synced.subscribe().wait_for(|synced| *synced).await);
    }

    /// What last went wrong on the way to the server, with the kind it is about; `None` since the server last told of
    /// an object or of all.
    pub fn last_error(&self) -> Option<String> {
        lock(&self.0.last_error).clone()
    }

    /// Why it has not synced; `None` if it has.
    pub(crate) fn why_not_synced(&self) -> Option<String> {
        let waits_for = match self.0.started.load(Ordering::SeqCst) {
            true => "no answer yet",
            false => "not started",
        };
        let why = || self.last_error().unwrap_or_else(|| format!("{}: {waits_for}", resource::<K>()));
        (!self.has_synced()).then(why)
    }

    /// Lists, watches and tells the handlers until cancelled. Errors are logged and retried, 0.8 to 60 seconds apart.
    /// A second run, at the same time or later, returns at once.
    pub async fn run(&self, cancelled: CancellationToken) {
        if self.0.started.swap(true, Ordering::SeqCst) {
            tracing::warn!(resource = resource::<K>(), "this informer was started before; it is not run again");
            return;
        }
        let events = Reflector::new(self.0.api.clone()).events();
        let mut events = std::pin::pin!(events.take_until(cancelled.cancelled_owned()));
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.0.apply(event),
                Err(error) => self.0.note(&error),
            }
        }
        self.0.store.stop();
    }
}

impl<K> Shared<K>
where
    K: ApiObject,
{
    fn apply(&self, event: reflector::Event<K>) {
        let is_all = matches!(event, reflector::Event::Replaced { .. });
        self.change(event);
        if is_all {
            self.synced.send_replace(true);
        }
        *lock(&self.last_error) = None;
    }

    fn change(&self, event: reflector::Event<K>) {
        let handlers = lock(&self.handlers);
        let initial = !*self.synced.borrow();
        for change in self.store.receive(event) {
            let event = match change {
                Change::Added(object) => Event::Added { object, initial },
                Change::Updated { old, new } => Event::Updated { old, new },
                Change::Deleted { object, final_state_unknown } => Event::Deleted { object, final_state_unknown },
            };
            handlers.all.iter().for_each(|(_, handler)| call(handler, &event));
        }
    }

    fn note(&self, error: &Error) {
        let text = error.to_string();
        tracing::warn!(resource = resource::<K>(), error = text, "retrying");
        *lock(&self.last_error) = Some(text);
    }
}

fn call<K>(handler: &Handler<K>, event: &Event<K>) {
    if catch_unwind(AssertUnwindSafe(|| handler(event))).is_err() {
        tracing::error!("an event handler panicked; it goes on with the next event");
    }
}

/// What these locks guard is whole at every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
