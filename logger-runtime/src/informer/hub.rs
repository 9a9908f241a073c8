//! The listeners of an informer, and the moments at which they come, hear and go.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::Stopped;
use super::event::{AnyObject, Event};
use super::inbox::{Caller, Handler, Inbox};
use super::listener::{Listener, Registration};
use super::measured::{Measured, Measures};
use super::options::{HandlerOptions, Hearing};
use super::running::Running;
use crate::key::ObjectKey;
use crate::metrics::Refresh;
use crate::version::ResourceVersion;

/// The listeners of an informer, whatever the kind.
pub(super) struct Hub {
    pub(super) resource: String,
    store: Box<dyn AnyStore>,
    /// Held while the store changes and the events are handed to the listeners, so that a late one's replay falls between.
    state: Mutex<State>,
    synced: watch::Sender<bool>,
    /// What a handler that aborts the informer panicked with.
    panic: Mutex<Option<Panic>>,
}

/// An informer's store, whatever the kind.
pub(super) trait AnyStore: Send + Sync {
    /// Everything in it.
    fn objects(&self) -> Vec<Arc<dyn AnyObject>>;
    /// How far it is.
    fn version(&self) -> Option<ResourceVersion>;
    /// Nothing follows any more.
    fn stop(&self);
}

/// Tells of a change, with the key of the object.
type Tell<'a> = &'a mut dyn FnMut(&ObjectKey, Event<dyn AnyObject>);
pub(super) type Panic = Box<dyn Any + Send>;
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

struct State {
    phase: Phase,
    listeners: Vec<Arc<Listener>>,
    /// How many there ever were.
    count: usize,
    resync: Option<Duration>,
    /// Once it runs.
    measured: Option<Measured>,
    /// Resyncs that are asked for once the informer runs are no more frequent than this; `None` until one was asked for.
    shortest_resync: Option<Duration>,
}

enum Phase {
    /// Handlers wait for it to run.
    New(Vec<Task>),
    Running {
        runtime: Handle,
        tasks: TaskTracker,
        cancelled: CancellationToken,
    },
    Stopped,
}

const SHORTEST_RESYNC: Duration = Duration::from_secs(1);

impl Hub {
    pub(super) fn new(resource: String, store: Box<dyn AnyStore>, resync: Option<Duration>) -> Arc<Self> {
        let state = State {
            phase: Phase::New(Vec::new()),
            listeners: Vec::new(),
            count: 0,
            resync,
            measured: None,
            shortest_resync: None,
        };
        let (synced, panic) = (watch::Sender::new(false), Mutex::default());
        Arc::new(Hub { resource, store, state: Mutex::new(state), synced, panic })
    }

    /// A new listener, which first hears of everything in the store.
    pub(super) fn join(self: &Arc<Self>, mut hearing: Hearing, is_stream: bool) -> Result<Inbox, Stopped> {
        let mut state = self.state();
        if matches!(state.phase, Phase::Stopped) {
            return Err(Stopped { resource: self.resource.clone() });
        }
        state.count += 1;
        let given = hearing.name.take();
        let name = given.clone().unwrap_or_else(|| format!("{}-{}", self.resource, state.count));
        hearing.resync = state.admit_resync(hearing.resync);
        let listener = Listener::new(name, given.is_some(), &hearing, is_stream);
        state.measured.iter().for_each(|measured| listener.measure(measured));
        for object in self.store.objects() {
            listener.push(&key_of(&*object), Event::Added { object, initial: true });
        }
        if self.has_synced() {
            listener.listed();
        }
        state.listeners.retain(|listener| !listener.is_closed());
        state.listeners.push(Arc::clone(&listener));
        Ok(Inbox::new(listener, Arc::downgrade(self)))
    }

    /// Adds a handler, on a task of its own.
    pub(super) fn listen(
        self: &Arc<Self>,
        options: HandlerOptions<dyn AnyObject>,
        handler: Handler,
    ) -> Result<Registration, Stopped> {
        let HandlerOptions { filter, hearing } = options;
        let (on_panic, is_blocking) = (hearing.on_panic, hearing.is_blocking);
        let inbox = self.join(hearing, false)?;
        let registration = inbox.registration();
        self.spawn(Caller { inbox, filter, handler, on_panic, is_blocking }.run());
        Ok(registration)
    }

    /// Runs a listener's task now, or as soon as the informer runs.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match &mut self.state().phase {
            Phase::New(waiting) => waiting.push(Box::pin(task)),
            Phase::Running { runtime, tasks, .. } => drop(tasks.spawn_on(task, runtime)),
            Phase::Stopped => {}
        }
    }

    /// Runs the listeners' tasks until what is returned is stopped or dropped; cancels this when a handler aborts.
    /// `None` if it ran before.
    pub(super) fn start(self: &Arc<Self>, cancelled: CancellationToken, measures: Option<Measures>) -> Option<Running> {
        let measured = measures.map(Measured::new);
        let this: Weak<dyn Refresh> = Arc::<Self>::downgrade(self);
        measured.iter().for_each(|measured| measured.metrics().refresh_with(Weak::clone(&this)));
        let mut state = self.state();
        measured.iter().for_each(|measured| state.listeners.iter().for_each(|listener| listener.measure(measured)));
        state.measured = measured;
        let Phase::New(waiting) = &mut state.phase else { return None };
        let (runtime, tasks) = (Handle::current(), TaskTracker::new());
        waiting.drain(..).for_each(|task| drop(tasks.spawn_on(task, &runtime)));
        state.phase = Phase::Running { runtime, tasks: tasks.clone(), cancelled };
        Some(Running::new(Arc::clone(self), tasks))
    }

    /// Changes the store, and has every listener hear of what changed.
    pub(super) fn change(&self, change: impl FnOnce(Tell<'_>)) {
        let state = self.state();
        let start = state.measured.as_ref().map(|_| Instant::now());
        change(&mut |key, event| {
            state.listeners.iter().for_each(|listener| listener.push(key, event.clone()));
        });
        state.processed(start, self.store.as_ref());
    }

    /// Everything that was there at the start is in the store, and handed to the listeners.
    pub(super) fn listed(&self) {
        let state = self.state();
        state.listeners.iter().for_each(|listener| listener.listed());
        self.synced.send_if_modified(|synced| !std::mem::replace(synced, true));
    }

    /// Has a listener hear of every object again.
    pub(super) fn resync(&self, listener: &Listener) {
        let _no_change_between = self.state();
        self.tell_again(&[listener]);
    }

    /// After a list that was taken anew: whoever asked for resyncs hears of every object.
    pub(super) fn resync_all(&self) {
        let state = self.state();
        let all = state.listeners.iter().map(Arc::as_ref).filter(|listener| listener.resync.is_some());
        self.tell_again(&all.collect::<Vec<_>>());
    }

    fn tell_again(&self, listeners: &[&Listener]) {
        if listeners.is_empty() {
            return;
        }
        for object in self.store.objects() {
            let key = key_of(&*object);
            listeners.iter().for_each(|listener| listener.push_again(&key, &object));
        }
    }

    /// Stops the informer because a handler panicked.
    pub(super) fn abort(&self, panic: Panic) {
        lock(&self.panic).get_or_insert(panic);
        if let Phase::Running { cancelled, .. } = &self.state().phase {
            cancelled.cancel();
        }
    }

    /// What a handler panicked with that stopped the informer.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        lock(&self.panic).take()
    }

    pub(super) fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    pub(super) async fn wait_for_sync(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.synced.subscribe().wait_for(|synced| *synced).await);
    }

    pub(super) fn resync_by_default(&self, period: Option<Duration>) {
        self.state().resync = period;
    }

    /// Why nothing comes from it; `None` while it runs.
    pub(super) fn why_idle(&self) -> Option<&'static str> {
        match self.state().phase {
            Phase::New(_) => Some("not started"),
            Phase::Running { .. } => None,
            Phase::Stopped => Some("stopped"),
        }
    }

    /// Takes and tells nothing more.
    pub(super) fn stop(&self) {
        let (phase, listeners) = {
            let mut state = self.state();
            (std::mem::replace(&mut state.phase, Phase::Stopped), std::mem::take(&mut state.listeners))
        };
        listeners.iter().for_each(|listener| listener.close());
        drop(phase);
        self.store.stop();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn processed(&self, start: Option<Instant>, store: &dyn AnyStore) {
        if let (Some(start), Some(measured)) = (start, &self.measured) {
            measured.processed(start.elapsed());
            self.measure(measured, store);
        }
    }

    fn measure(&self, measured: &Measured, store: &dyn AnyStore) {
        let queued = self.listeners.iter().map(|listener| listener.pending()).sum();
        measured.stands(queued, store.version().as_ref());
    }

    fn admit_resync(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let asked = asked.or(self.resync).filter(|period| !period.is_zero())?.max(SHORTEST_RESYNC);
        match (&self.phase, self.shortest_resync) {
            (Phase::Running { .. }, Some(shortest)) => Some(asked.max(shortest)),
            (_, shortest) => {
                self.shortest_resync = Some(shortest.map_or(asked, |shortest| shortest.min(asked)));
                Some(asked)
            }
        }
    }
}

/// What handlers took since the last event.
impl Refresh for Hub {
    fn refresh(&self) {
        let state = self.state();
        state.measured.iter().for_each(|measured| state.measure(measured, self.store.as_ref()));
        state.listeners.iter().for_each(|listener| listener.refresh());
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listeners = &self.state().listeners;
        f.debug_struct("Hub").field("resource", &self.resource).field("listeners", listeners).finish_non_exhaustive()
    }
}

pub(super) fn key_of(object: &dyn AnyObject) -> ObjectKey {
    let meta = object.metadata();
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    ObjectKey::namespaced(namespace, meta.name.as_deref().unwrap_or_default())
}

/// What these locks guard is whole at every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
