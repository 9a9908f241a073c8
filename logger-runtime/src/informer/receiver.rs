//! Receives the events of a listener: in the task of a handler, or as a stream.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use futures::{Stream, ready};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::{
    coalescing_queue::PendingChange,
    event::{AnyObject, Event, downcast},
    handler_options::{Filter, OnPanic},
    listener::{HandlerRegistration, Listener},
    shared_processor::{Panic, SharedProcessor},
};
use crate::object::ApiObject;

/// The receiving end of a listener. Dropping it removes the listener.
#[derive(Debug)]
pub(super) struct Receiver {
    listener: Arc<Listener>,
    /// Weak: an informer that is never run owns the tasks of its handlers, which own this.
    processor: Weak<SharedProcessor>,
    /// Created by the first poll, as there may be no runtime before.
    resync: Option<Interval>,
}

pub(super) type Handler = Box<dyn FnMut(Event<dyn AnyObject>) + Send>;

impl Receiver {
    pub(super) fn new(listener: Arc<Listener>, processor: Weak<SharedProcessor>) -> Self {
        Receiver { listener, processor, resync: None }
    }

    pub(super) fn registration(&self) -> HandlerRegistration {
        HandlerRegistration(Arc::clone(&self.listener))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<PendingChange<dyn AnyObject>>> {
        if let Some(period) = self.listener.resync {
            let ticks = self.resync.get_or_insert_with(|| {
                let mut ticks = interval_at(Instant::now() + period, period);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                ticks
            });
            while ticks.poll_tick(context).is_ready() {
                self.processor.upgrade().inspect(|processor| processor.resync(&self.listener));
            }
        }
        self.listener.poll_next(context)
    }

    async fn next(&mut self) -> Option<PendingChange<dyn AnyObject>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listener.receiver_dropped();
    }
}

/// Calls a handler with the received events, one call at a time.
pub(super) struct HandlerTask {
    pub(super) receiver: Receiver,
    pub(super) filter: Option<Filter<dyn AnyObject>>,
    pub(super) handler: Handler,
    pub(super) on_panic: OnPanic,
    pub(super) is_blocking: bool,
}

impl HandlerTask {
    pub(super) async fn run(mut self) {
        while let Some(change) = self.receiver.next().await {
            match self.is_blocking {
                false => self.call(change),
                true => match tokio::task::spawn_blocking(move || (self.call(change), self)).await {
                    Ok(((), task)) => self = task,
                    // The runtime is shutting down.
                    Err(_) => return,
                },
            }
            tokio::task::consume_budget().await;
        }
    }

    fn call(&mut self, change: PendingChange<dyn AnyObject>) {
        let filter = self.filter.as_ref();
        let events = catch_unwind(AssertUnwindSafe(|| change.into_events(|object| passes(filter, object))));
        let events = events.map_err(|panic| self.handle_panic(panic)).unwrap_or_default();
        for event in events.into_iter().flatten() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.handler)(event))) {
                self.handle_panic(panic);
            }
        }
    }

    fn handle_panic(&self, panic: Panic) {
        let listener = &self.receiver.listener;
        listener.count_panic();
        match self.on_panic {
            OnPanic::Continue => {
                tracing::error!(handler = listener.name, "an event handler panicked; it continues with the next event");
            }
            OnPanic::Abort => {
                tracing::error!(handler = listener.name, "an event handler panicked; its informer stops");
                listener.close();
                if let Some(processor) = self.receiver.processor.upgrade() {
                    processor.abort(panic);
                }
            }
        }
    }
}

fn passes(filter: Option<&Filter<dyn AnyObject>>, object: &dyn AnyObject) -> bool {
    filter.is_none_or(|filter| filter(object))
}

/// The stream of an informer's events. It ends when the informer stops; dropping it removes it from the informer.
pub struct Events<K> {
    receiver: Receiver,
    filter: Option<Filter<K>>,
    ready: VecDeque<Event<K>>,
}

impl<K> Events<K> {
    pub(super) fn new(receiver: Receiver, filter: Option<Filter<K>>) -> Self {
        Events { receiver, filter, ready: VecDeque::new() }
    }

    /// Returns the registration of this stream. The stream has synced when it is polled after the last initial object.
    pub fn registration(&self) -> HandlerRegistration {
        self.receiver.registration()
    }
}

impl<K: ApiObject> Stream for Events<K> {
    type Item = Event<K>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event<K>>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            let Some(change) = ready!(this.receiver.poll_next(context)) else { return Poll::Ready(None) };
            let passes = |object: &dyn AnyObject| match &this.filter {
                Some(filter) => object.as_any().downcast_ref().is_some_and(filter),
                None => true,
            };
            this.ready.extend(change.into_events(passes).into_iter().flatten().map(downcast));
        }
    }
}

impl<K> fmt::Debug for Events<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}
