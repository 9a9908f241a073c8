//! The options of an event handler or stream: filter, resync, delivery and panic policy.

use std::{fmt, time::Duration};

use super::event::AnyObject;

/// The options of an event handler or stream. By default it gets coalesced events of every object, without resyncs, and
/// a panic is logged and counted.
pub struct HandlerOptions<K: ?Sized> {
    pub(super) filter: Option<Filter<K>>,
    pub(super) listener: ListenerOptions,
}

pub(super) type Filter<K> = Box<dyn Fn(&K) -> bool + Send + Sync>;

/// The options that do not depend on the kind.
#[derive(Clone, Debug, Default)]
pub(super) struct ListenerOptions {
    pub(super) name: Option<String>,
    pub(super) resync: Option<Duration>,
    pub(super) delivery: Delivery,
    pub(super) on_panic: OnPanic,
    pub(super) is_blocking: bool,
}

/// How the pending events of a slow handler are stored. Neither way delays the informer or other handlers, and memory
/// is bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Coalesces the events of each object into one: from the last state that the handler saw to the current one. An
    /// object that was added and deleted meanwhile is omitted, also if the store contained it: to wait for a state of
    /// the store, use [`Delivery::EVERY_EVENT`]. The number of pending items is bounded by the number of objects,
    /// including deleted ones that the handler saw.
    #[default]
    Coalesced,
    /// Stores every event, up to `cap` in addition to the initial ones.
    EveryEvent {
        /// The maximum number of pending events; at least one.
        cap: usize,
        /// What happens beyond the maximum.
        overflow: Overflow,
    },
}

impl Delivery {
    /// Stores every event, and coalesces those beyond a thousand pending ones. Each change of the store is followed by
    /// an event, so a stream whose consumer reads the store after each event misses no state that lasts.
    pub const EVERY_EVENT: Delivery = Delivery::EveryEvent { cap: 1_000, overflow: Overflow::Coalesce };
}

/// What happens if there are more pending events than [`Delivery::EveryEvent`] allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Events are coalesced with the pending ones of their object, until the handler has caught up.
    #[default]
    Coalesce,
    /// The handler is removed, which [`HandlerRegistration::is_removed`](super::HandlerRegistration::is_removed)
    /// reports. For handlers that need every state and can restart.
    Remove,
}

/// What happens if a handler panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnPanic {
    /// The panic is reported by [`last_error`](super::SharedInformer::last_error), logged and counted, and the handler
    /// continues with the next event.
    #[default]
    Continue,
    /// The informer fails, and its [`run`](super::SharedInformer::run) returns an error with the message of the panic.
    Abort,
}

impl<K: ?Sized> HandlerOptions<K> {
    /// Creates the default options.
    pub fn new() -> Self {
        HandlerOptions { filter: None, listener: ListenerOptions::default() }
    }

    /// Handles only objects that pass the filter. An object that starts to pass is reported as added; one that stops
    /// passing as deleted, with the last state that passed. The filter must be a pure function of the object. If it
    /// panics, the panic is reported and the object passes.
    #[must_use]
    pub fn filter(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(passes));
        self
    }

    /// Sets the resync period: every object in the store is sent again as updated, unless an event of it is pending.
    /// This also happens after each relist. The minimum is one second and, if the informer is running, the shortest
    /// period of the earlier handlers.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.listener.resync = Some(period);
        self
    }

    /// Sets how pending events are stored.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.listener.delivery = delivery;
        self
    }

    /// Sets what happens if the handler panics.
    #[must_use]
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.listener.on_panic = on_panic;
        self
    }

    /// Calls the handler on tokio's pool for blocking tasks, so that it can block its thread.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.listener.is_blocking = true;
        self
    }

    /// Sets a name for logs and metrics. The number of names must be bounded: each is a time series.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.listener.name = Some(name.into());
        self
    }
}

impl<K: 'static> HandlerOptions<K> {
    /// Erases the kind. Objects of other kinds do not pass the filter.
    pub(super) fn erase(self) -> HandlerOptions<dyn AnyObject> {
        let filter = self.filter.map(|passes| -> Filter<dyn AnyObject> {
            Box::new(move |object| object.as_any().downcast_ref().is_some_and(&passes))
        });
        HandlerOptions { filter, listener: self.listener }
    }
}

impl<K: ?Sized> Default for HandlerOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: ?Sized> fmt::Debug for HandlerOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandlerOptions { filter, listener } = self;
        f.debug_struct("HandlerOptions").field("filter", &filter.is_some()).field("listener", listener).finish()
    }
}
