//! One listener of an informer: what waits for it, whether it has synced, and the handle to remove it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::AtomicWaker;
use tokio::sync::watch;

use super::backlog::{Backlog, Unheard};
use super::event::{AnyObject, Event};
use super::measured::Measured;
use super::options::{Delivery, Hearing, Overflow};
use crate::key::ObjectKey;
use crate::metrics::{self, Gauge};

/// One handler or stream, whatever the kind: so it is compiled once, and not for every kind.
pub(super) struct Listener {
    pub(super) name: String,
    pub(super) resync: Option<Duration>,
    /// How much waits; of those that were given a name, so that there are not ever more lines.
    pending: OnceLock<Arc<dyn Gauge>>,
    is_named: bool,
    overflow: Overflow,
    /// Who takes what waits may not come back for more, so a removal does not wait for that.
    is_stream: bool,
    state: Mutex<State>,
    /// Of whoever takes what waits.
    waker: AtomicWaker,
    stage: watch::Sender<Stage>,
    panics: AtomicU64,
}

#[derive(Debug)]
struct State {
    backlog: Backlog<dyn AnyObject>,
    /// What was there before the listener or the informer began is all in the backlog, or was.
    is_listed: bool,
    /// What was taken out and not come back from; whether it is an initial addition.
    out: Option<bool>,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stage {
    has_synced: bool,
    /// It is closed, and no call runs.
    has_ended: bool,
}

impl Listener {
    pub(super) fn new(name: String, is_named: bool, hearing: &Hearing, is_stream: bool) -> Arc<Self> {
        let (cap, overflow) = match hearing.delivery {
            Delivery::Coalesced => (0, Overflow::Coalesce),
            Delivery::EveryEvent { cap, overflow } => (cap.max(1), overflow),
        };
        let state = State { backlog: Backlog::new(cap), is_listed: false, out: None, is_closed: false };
        Arc::new(Listener {
            name,
            resync: hearing.resync,
            pending: OnceLock::new(),
            is_named,
            overflow,
            is_stream,
            state: Mutex::new(state),
            waker: AtomicWaker::new(),
            stage: watch::Sender::default(),
            panics: AtomicU64::new(0),
        })
    }

    /// Has it hear of an event, sooner or later.
    pub(super) fn push(&self, key: &ObjectKey, event: Event<dyn AnyObject>) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        let is_initial = matches!(event, Event::Added { initial: true, .. });
        if self.overflow == Overflow::Remove && state.backlog.is_full() && !is_initial {
            tracing::error!(handler = self.name, "it does not keep up with the events, and is removed");
            return self.shut(state);
        }
        state.backlog.push(key, event);
        self.settle(state);
    }

    /// Has it hear of an object again, unless something of it waits.
    pub(super) fn push_again(&self, key: &ObjectKey, object: &Arc<dyn AnyObject>) {
        let mut state = self.state();
        if !state.is_closed {
            state.backlog.resync(key, object);
            self.settle(state);
        }
    }

    /// What was there before is all in.
    pub(super) fn listed(&self) {
        let mut state = self.state();
        state.is_listed = true;
        self.settle(state);
    }

    /// What waits the longest; whoever asks is done with what it got before. `None` once it is closed.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Unheard<dyn AnyObject>>> {
        self.waker.register(context.waker());
        let mut state = self.state();
        let next = if state.is_closed { None } else { state.backlog.pop() };
        state.out = next.as_ref().map(Unheard::is_initial);
        let is_closed = state.is_closed;
        self.settle(state);
        match next {
            None if !is_closed => Poll::Pending,
            next => Poll::Ready(next),
        }
    }

    /// Tells it nothing more; what waits is dropped.
    pub(super) fn close(&self) {
        self.shut(self.state());
    }

    /// Nobody takes anything any more.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.out = None;
        self.shut(state);
    }

    /// Has what waits for it measured, if it was given a name.
    pub(super) fn measure(&self, measured: &Measured) {
        if self.is_named {
            self.pending.get_or_init(|| measured.of_handler(&self.name));
        }
    }

    /// Measures what waits for it now.
    pub(super) fn refresh(&self) {
        if let Some(gauge) = self.pending.get() {
            gauge.set(metrics::count(self.pending()));
        }
    }

    pub(super) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn pending(&self) -> usize {
        self.state().backlog.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    fn shut(&self, mut state: MutexGuard<'_, State>) {
        state.is_closed = true;
        // What waits may be the last handle on large objects: they are dropped without the lock.
        let waited = std::mem::replace(&mut state.backlog, Backlog::new(0));
        self.settle(state);
        drop(waited);
        self.refresh();
    }

    /// Tells where it stands now, and wakes whoever takes what waits.
    fn settle(&self, state: MutexGuard<'_, State>) {
        let is_in_sync = state.is_listed && state.out != Some(true) && state.backlog.initial() == 0 && !state.is_closed;
        let has_ended = state.is_closed && (self.is_stream || state.out.is_none());
        let is_to_wake = state.is_closed || state.out.is_none() && state.backlog.len() > 0;
        let is_other = self.stage.send_if_modified(|stage| {
            let now = Stage { has_synced: stage.has_synced || is_in_sync, has_ended };
            std::mem::replace(stage, now) != now
        });
        drop(state);
        // Who takes what waits may have something to do when it has synced, too.
        if is_to_wake || is_other {
            self.waker.wake();
        }
    }

    /// What this lock guards is whole at every step, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = Listener::pending(self);
        f.debug_struct("Listener").field("name", &self.name).field("pending", &pending).finish_non_exhaustive()
    }
}

/// Names a handler or stream of an informer. Cloning gives another handle on the same one; dropping it changes nothing.
///
/// It promises:
/// - it has synced when the handler has *returned* from the last object that was there before it, or, if there was none, at
///   once when that is known;
/// - once a removal is acknowledged, no call of the handler runs and none begins.
#[derive(Clone, Debug)]
pub struct Registration(pub(super) Arc<Listener>);

/// A handler was removed, or its informer stopped, before it had synced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the handler `{0}` was removed, or its informer stopped, before it had synced")]
pub struct NotSynced(String);

impl Registration {
    /// Whether the handler has returned from every object that was there before it or the informer began.
    pub fn has_synced(&self) -> bool {
        self.0.stage.borrow().has_synced
    }

    /// Waits until it [has synced](Self::has_synced).
    ///
    /// # Errors
    /// It cannot any more: it was removed, or the informer stopped.
    pub async fn wait_for_sync(&self) -> Result<(), NotSynced> {
        let mut stage = self.0.stage.subscribe();
        let stage = stage.wait_for(|stage| stage.has_synced || stage.has_ended).await;
        match stage.is_ok_and(|stage| stage.has_synced) {
            true => Ok(()),
            false => Err(NotSynced(self.0.name.clone())),
        }
    }

    /// Removes the handler at once: no call begins any more, and what waits for it is dropped. The future is done when a
    /// call that runs has returned. A second removal, or one after the informer stopped, is no error.
    #[must_use = "to know that no call runs any more, await it"]
    pub fn remove(&self) -> impl Future<Output = ()> + Send + use<> {
        self.0.close();
        let mut stage = self.0.stage.subscribe();
        async move { drop(stage.wait_for(|stage| stage.has_ended).await) }
    }

    /// Whether it was removed or its informer stopped.
    pub fn is_removed(&self) -> bool {
        self.0.is_closed()
    }

    /// How many objects, or events where it hears of every one, wait for the handler; those it was called with and has not
    /// returned from are not counted.
    pub fn pending(&self) -> usize {
        self.0.pending()
    }

    /// How often the handler panicked.
    pub fn panics(&self) -> u64 {
        self.0.panics.load(Ordering::Relaxed)
    }

    /// How often all objects are told again; `None` if never. It may be longer than was asked for.
    pub fn resync_period(&self) -> Option<Duration> {
        self.0.resync
    }

    /// The name it was given, or one made for it.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}
