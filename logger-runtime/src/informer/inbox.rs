//! Takes what waits for a listener: on a handler's task, or as a stream.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use futures::{Stream, ready};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::backlog::Unheard;
use super::event::{AnyObject, Event, typed};
use super::hub::{Hub, Panic};
use super::listener::{Listener, Registration};
use super::options::{Filter, OnPanic};
use crate::object::ApiObject;

/// The one who takes what waits for a listener. Dropped, the listener ends.
#[derive(Debug)]
pub(super) struct Inbox {
    listener: Arc<Listener>,
    /// An informer that never runs holds the tasks of its handlers: they must not hold it.
    hub: Weak<Hub>,
    /// Begins with the first poll: before, there may be no runtime.
    resync: Option<Interval>,
}

pub(super) type Handler = Box<dyn FnMut(Event<dyn AnyObject>) + Send>;

impl Inbox {
    pub(super) fn new(listener: Arc<Listener>, hub: Weak<Hub>) -> Self {
        Inbox { listener, hub, resync: None }
    }

    pub(super) fn registration(&self) -> Registration {
        Registration(Arc::clone(&self.listener))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Unheard<dyn AnyObject>>> {
        if let Some(period) = self.listener.resync {
            let ticks = self.resync.get_or_insert_with(|| {
                let mut ticks = interval_at(Instant::now() + period, period);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                ticks
            });
            while ticks.poll_tick(context).is_ready() {
                self.hub.upgrade().inspect(|hub| hub.resync(&self.listener));
            }
        }
        self.listener.poll_next(context)
    }

    async fn next(&mut self) -> Option<Unheard<dyn AnyObject>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.listener.end();
    }
}

/// Calls a handler with what comes in, one call at a time.
pub(super) struct Caller {
    pub(super) inbox: Inbox,
    pub(super) filter: Option<Filter<dyn AnyObject>>,
    pub(super) handler: Handler,
    pub(super) on_panic: OnPanic,
    pub(super) is_blocking: bool,
}

impl Caller {
    pub(super) async fn run(mut self) {
        while let Some(unheard) = self.inbox.next().await {
            match self.is_blocking {
                false => self.call(unheard),
                true => match tokio::task::spawn_blocking(move || (self.call(unheard), self)).await {
                    Ok(((), caller)) => self = caller,
                    // The runtime shuts down.
                    Err(_) => return,
                },
            }
            tokio::task::consume_budget().await;
        }
    }

    fn call(&mut self, unheard: Unheard<dyn AnyObject>) {
        let filter = self.filter.as_ref();
        let told = catch_unwind(AssertUnwindSafe(|| unheard.tell(|object| passes(filter, object))));
        let events = told.map_err(|panic| self.panicked(panic)).unwrap_or_default();
        for event in events.into_iter().flatten() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.handler)(event))) {
                self.panicked(panic);
            }
        }
    }

    fn panicked(&self, panic: Panic) {
        let listener = &self.inbox.listener;
        listener.panicked();
        match self.on_panic {
            OnPanic::GoOn => {
                tracing::error!(handler = listener.name, "an event handler panicked; it goes on with the next event");
            }
            OnPanic::Abort => {
                tracing::error!(handler = listener.name, "an event handler panicked; its informer stops");
                listener.close();
                if let Some(hub) = self.inbox.hub.upgrade() {
                    hub.abort(panic);
                }
            }
        }
    }
}

fn passes(filter: Option<&Filter<dyn AnyObject>>, object: &dyn AnyObject) -> bool {
    filter.is_none_or(|filter| filter(object))
}

/// What happens to the objects of an informer, as a handler would hear of it. It ends when the informer stops; dropped, it is
/// removed from the informer.
pub struct Events<K> {
    inbox: Inbox,
    filter: Option<Filter<K>>,
    ready: VecDeque<Event<K>>,
}

impl<K> Events<K> {
    pub(super) fn new(inbox: Inbox, filter: Option<Filter<K>>) -> Self {
        Events { inbox, filter, ready: VecDeque::new() }
    }

    /// Whether it has synced, how much waits, and how to end it from elsewhere. It has synced when the next event is asked for
    /// after the last object that was there before.
    pub fn registration(&self) -> Registration {
        self.inbox.registration()
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
            let Some(unheard) = ready!(this.inbox.poll_next(context)) else { return Poll::Ready(None) };
            let passes = |object: &dyn AnyObject| match &this.filter {
                Some(filter) => object.as_any().downcast_ref().is_some_and(filter),
                None => true,
            };
            this.ready.extend(unheard.tell(passes).into_iter().flatten().map(typed));
        }
    }
}

impl<K> fmt::Debug for Events<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("inbox", &self.inbox).finish_non_exhaustive()
    }
}
