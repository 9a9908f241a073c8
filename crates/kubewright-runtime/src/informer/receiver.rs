//! Receives the events of a listener: in the task of a handler, or as a stream.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use futures::{Stream, ready};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::{
    coalescing_queue::PendingChange,
    config::Stopped,
    event::{AnyObject, Event, downcast},
    handler_options::{Filter, HandlerOptions, ListenerOptions, OnPanic},
    listener::{HandlerRegistration, Listener},
    shared_processor::SharedProcessor,
    stored::AnyStored,
};
use crate::{
    error::{UserCodePanicked, catch_panic},
    object::{ApiObject, ObjectKey},
};

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
    /// Adds a listener to an informer.
    pub(super) fn new(
        processor: &Arc<SharedProcessor>,
        options: ListenerOptions,
        is_stream: bool,
    ) -> Result<Self, Stopped> {
        let listener = processor.add_listener(options, is_stream)?;
        Ok(Receiver { listener, processor: Arc::downgrade(processor), resync: None })
    }

    pub(super) fn registration(&self) -> HandlerRegistration {
        HandlerRegistration(Arc::clone(&self.listener))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<PendingChange<dyn AnyStored>>> {
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

    /// Calls a filter. An object for which it panics passes, so that no event is lost.
    fn passes(&self, object: &ObjectMeta, filter: impl FnOnce() -> bool) -> bool {
        catch_panic(filter).unwrap_or_else(|message| {
            let what = format!("the filter of the event handler `{}`", self.listener.name);
            self.report_panic(&UserCodePanicked::new(what, Some(key_of(object)), message));
            true
        })
    }

    fn report_panic(&self, panicked: &UserCodePanicked) {
        if let Some(processor) = self.processor.upgrade() {
            processor.report_panic(panicked);
        }
    }

    async fn next(&mut self) -> Option<PendingChange<dyn AnyStored>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listener.receiver_dropped();
    }
}

/// Adds a handler with a dedicated task to an informer.
pub(super) fn add_handler(
    processor: &Arc<SharedProcessor>,
    options: HandlerOptions<dyn AnyObject>,
    handler: Handler,
) -> Result<HandlerRegistration, Stopped> {
    let HandlerOptions { filter, listener: options } = options;
    let (on_panic, is_blocking) = (options.on_panic, options.is_blocking);
    let receiver = Receiver::new(processor, options, false)?;
    let registration = receiver.registration();
    processor.spawn(HandlerTask { receiver, filter, handler, on_panic, is_blocking }.run());
    Ok(registration)
}

/// Calls a handler with the received events, one call at a time.
struct HandlerTask {
    receiver: Receiver,
    filter: Option<Filter<dyn AnyObject>>,
    handler: Handler,
    on_panic: OnPanic,
    is_blocking: bool,
}

impl HandlerTask {
    async fn run(mut self) {
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

    fn call(&mut self, change: PendingChange<dyn AnyStored>) {
        let (receiver, filter) = (&self.receiver, self.filter.as_ref());
        let events = change
            .filter_map(AnyStored::load_any)
            .into_events(|object| filter.is_none_or(|filter| receiver.passes(object.metadata(), || filter(object))));
        for event in events.into_iter().flatten() {
            let object = Arc::clone(event.object());
            if let Err(panic) = catch_panic(|| (self.handler)(event)) {
                self.handle_panic(&*object, panic);
            }
        }
    }

    fn handle_panic(&self, object: &dyn AnyObject, message: String) {
        let listener = &self.receiver.listener;
        listener.count_panic();
        let what = format!("the event handler `{}`", listener.name);
        let panicked = UserCodePanicked::new(what, Some(key_of(object.metadata())), message);
        self.receiver.report_panic(&panicked);
        if self.on_panic == OnPanic::Abort {
            listener.close();
            if let Some(processor) = self.receiver.processor.upgrade() {
                processor.abort(panicked.to_string());
            }
        }
    }
}

fn key_of(meta: &ObjectMeta) -> ObjectKey {
    ObjectKey::namespaced(meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
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
            let (receiver, filter) = (&this.receiver, &this.filter);
            let passes = |object: &dyn AnyObject| match filter {
                Some(filter) => {
                    receiver.passes(object.metadata(), || object.as_any().downcast_ref().is_some_and(&filter))
                }
                None => true,
            };
            let events = change.filter_map(AnyStored::load_any).into_events(passes);
            this.ready.extend(events.into_iter().flatten().map(downcast));
        }
    }
}

impl<K> fmt::Debug for Events<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}
