//! A listener of an informer: its pending events, its sync state and the registration that removes it.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::task::AtomicWaker;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use super::{
    coalescing_queue::{CoalescingQueue, PendingChange},
    event::Event,
    handler_options::{Delivery, ListenerOptions, Overflow},
    metrics::InformerMetrics,
    stored::AnyStored,
};
use crate::{
    metrics::{self, Gauge},
    object::ObjectKey,
};

/// A handler or stream. The kind is erased, so that this is compiled once and not for every kind.
pub(super) struct Listener {
    pub(super) name: String,
    pub(super) resync: Option<Duration>,
    /// The number of pending items. Only for listeners with a custom name, which bounds the number of time series.
    pending: OnceLock<Gauge>,
    is_named: bool,
    overflow: Overflow,
    /// Whether the receiver is a stream. It may never be polled again, so a removal does not wait for it.
    is_stream: bool,
    state: Mutex<State>,
    /// The waker of the receiver.
    waker: AtomicWaker,
    stage: watch::Sender<Stage>,
    panics: AtomicU64,
}

#[derive(Debug)]
struct State {
    queue: CoalescingQueue<dyn AnyStored>,
    /// Whether all initial objects were pushed.
    is_initial_list_pushed: bool,
    /// Set while an item is being processed: whether it is an initial addition.
    processing: Option<bool>,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stage {
    has_synced: bool,
    /// Whether the listener is closed and no call is running.
    has_ended: bool,
}

impl Listener {
    pub(super) fn new(name: String, is_named: bool, options: &ListenerOptions, is_stream: bool) -> Arc<Self> {
        let (cap, overflow) = match options.delivery {
            Delivery::Coalesced => (0, Overflow::Coalesce),
            Delivery::EveryEvent { cap, overflow } => (cap.max(1), overflow),
        };
        let queue = CoalescingQueue::new(cap);
        let state = State { queue, is_initial_list_pushed: false, processing: None, is_closed: false };
        Arc::new(Listener {
            name,
            resync: options.resync,
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

    /// Queues an event.
    pub(super) fn push(&self, key: &ObjectKey, event: Event<dyn AnyStored>) {
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        let is_initial = matches!(event, Event::Added { initial: true, .. });
        if self.overflow == Overflow::Remove && state.queue.is_full() && !is_initial {
            tracing::error!(handler = self.name, "too many pending events; the event handler is removed");
            return self.close_with(state);
        }
        state.queue.push(key, event);
        self.update_stage(state);
    }

    /// Queues an object for a resync, unless an event of it is pending.
    pub(super) fn push_resync(&self, key: &ObjectKey, object: &Arc<dyn AnyStored>) {
        let mut state = self.state.lock();
        if !state.is_closed {
            state.queue.push_resync(key, object);
            self.update_stage(state);
        }
    }

    /// Marks that all initial objects were pushed.
    pub(super) fn initial_list_pushed(&self) {
        let mut state = self.state.lock();
        state.is_initial_list_pushed = true;
        self.update_stage(state);
    }

    /// Returns the next item and marks the previous one as processed. `None` when the listener is closed.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<PendingChange<dyn AnyStored>>> {
        self.waker.register(context.waker());
        let mut state = self.state.lock();
        let next = if state.is_closed { None } else { state.queue.pop() };
        state.processing = next.as_ref().map(PendingChange::is_initial);
        let is_closed = state.is_closed;
        self.update_stage(state);
        match next {
            None if !is_closed => Poll::Pending,
            next => Poll::Ready(next),
        }
    }

    /// Closes the listener and drops its pending items.
    pub(super) fn close(&self) {
        self.close_with(self.state.lock());
    }

    /// Closes the listener after its receiver was dropped.
    pub(super) fn receiver_dropped(&self) {
        let mut state = self.state.lock();
        state.processing = None;
        self.close_with(state);
    }

    /// Creates the metrics of the listener if it has a custom name.
    pub(super) fn set_metrics(&self, metrics: &InformerMetrics) {
        if self.is_named {
            self.pending.get_or_init(|| metrics.handler_pending_items(&self.name));
        }
    }

    pub(super) fn update_metrics(&self) {
        if let Some(gauge) = self.pending.get() {
            gauge.set(metrics::count(self.pending()));
        }
    }

    pub(super) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn pending(&self) -> usize {
        self.state.lock().queue.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    fn close_with(&self, mut state: MutexGuard<'_, State>) {
        state.is_closed = true;
        // Pending items can own the last reference to large objects, so they are dropped without the lock.
        let pending = std::mem::replace(&mut state.queue, CoalescingQueue::new(0));
        self.update_stage(state);
        drop(pending);
        self.update_metrics();
    }

    /// Publishes the stage and wakes the receiver if there is something to receive.
    fn update_stage(&self, state: MutexGuard<'_, State>) {
        let is_initial_list_processed =
            state.is_initial_list_pushed && state.processing != Some(true) && state.queue.initial() == 0;
        let is_synced = is_initial_list_processed && !state.is_closed;
        let has_ended = state.is_closed && (self.is_stream || state.processing.is_none());
        let is_ready = state.is_closed || state.processing.is_none() && state.queue.len() > 0;
        let is_changed = self.stage.send_if_modified(|stage| {
            let current = Stage { has_synced: stage.has_synced || is_synced, has_ended };
            std::mem::replace(stage, current) != current
        });
        drop(state);
        // The receiver may also act on a change of the stage.
        if is_ready || is_changed {
            self.waker.wake();
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = Listener::pending(self);
        f.debug_struct("Listener").field("name", &self.name).field("pending", &pending).finish_non_exhaustive()
    }
}

/// The registration of a handler or stream, like client-go's `ResourceEventHandlerRegistration`. Clones refer to the
/// same one. Dropping it does not remove the handler.
///
/// Guarantees:
/// - a handler has synced when it has *returned* from the last initial object, or when the initial list is known to be
///   empty;
/// - once a removal is acknowledged, no call of the handler is running or will start.
#[derive(Clone, Debug)]
pub struct HandlerRegistration(pub(super) Arc<Listener>);

/// The handler was removed, or its informer was stopped, before it had synced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("handler `{0}` was removed, or its informer was stopped, before it had synced")]
pub struct NotSynced(String);

impl HandlerRegistration {
    /// Returns whether the handler has returned from every initial object.
    pub fn has_synced(&self) -> bool {
        self.0.stage.borrow().has_synced
    }

    /// Waits until it [has synced](Self::has_synced).
    ///
    /// # Errors
    /// Fails if the handler was removed or the informer was stopped.
    pub async fn wait_for_sync(&self) -> Result<(), NotSynced> {
        let mut stage = self.0.stage.subscribe();
        let stage = stage.wait_for(|stage| stage.has_synced || stage.has_ended).await;
        match stage.is_ok_and(|stage| stage.has_synced) {
            true => Ok(()),
            false => Err(NotSynced(self.0.name.clone())),
        }
    }

    /// Removes the handler at once: no further call starts, and its pending events are dropped. The future completes
    /// when the running call has returned. Idempotent, also after the informer was stopped.
    #[must_use = "await it to ensure that no call is running"]
    pub fn remove(&self) -> impl Future<Output = ()> + Send + use<> {
        self.0.close();
        self.ended()
    }

    /// Waits until the handler was removed, or its informer failed or was stopped, and no call is running.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stage = self.0.stage.subscribe();
        async move { drop(stage.wait_for(|stage| stage.has_ended).await) }
    }

    /// Returns whether the handler was removed or its informer was stopped.
    pub fn is_removed(&self) -> bool {
        self.0.is_closed()
    }

    /// Returns the number of pending objects, or of pending events with [`Delivery::EveryEvent`]. Those of the running
    /// call are not counted.
    pub fn pending(&self) -> usize {
        self.0.pending()
    }

    /// Returns how often the handler panicked.
    pub fn panics(&self) -> u64 {
        self.0.panics.load(Ordering::Relaxed)
    }

    /// Returns the resync period; `None` without resyncs. It can be longer than requested.
    pub fn resync_period(&self) -> Option<Duration> {
        self.0.resync
    }

    /// Returns the custom or generated name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}
