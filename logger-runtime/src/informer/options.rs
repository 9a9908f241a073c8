//! How a handler wants to hear: of which objects, how often, and what a panic does.

use std::fmt;
use std::time::Duration;

use super::event::AnyObject;

/// How a handler or stream wants to hear. By default of every object, coalesced, without resyncs; a panic is logged and counted.
pub struct HandlerOptions<K: ?Sized> {
    pub(super) filter: Option<Filter<K>>,
    pub(super) hearing: Hearing,
}

pub(super) type Filter<K> = Box<dyn Fn(&K) -> bool + Send + Sync>;

/// What does not depend on the kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Hearing {
    pub(super) name: Option<String>,
    pub(super) resync: Option<Duration>,
    pub(super) delivery: Delivery,
    pub(super) on_panic: OnPanic,
    pub(super) is_blocking: bool,
}

/// What becomes of events that a handler does not keep up with. Neither way delays the informer or other handlers, and
/// neither grows without bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Of each object one entry waits: from the state the handler knows to the latest. An object that came and went
    /// unheard is not told of. So never more waits than there are objects, with those gone that the handler knows of.
    #[default]
    Coalesced,
    /// Every event waits on its own, up to `cap` beside the initial additions.
    EveryEvent {
        /// How many; at least one.
        cap: usize,
        /// What happens beyond.
        overflow: Overflow,
    },
}

/// What happens when more events wait than [`Delivery::EveryEvent`] allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Events are joined to what waits of their object, until the handler has caught up.
    #[default]
    Coalesce,
    /// The handler is removed, and [`Registration::is_removed`](super::Registration::is_removed) says so: for those who
    /// would rather begin anew than miss a state.
    Remove,
}

/// What a handler's panic does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnPanic {
    /// It is logged and counted, and the handler goes on with the next event.
    #[default]
    GoOn,
    /// The informer stops, and its [`run`](super::SharedInformer::run) panics with it.
    Abort,
}

impl<K: ?Sized> HandlerOptions<K> {
    /// The defaults.
    pub fn new() -> Self {
        HandlerOptions { filter: None, hearing: Hearing::default() }
    }

    /// Hears only of objects that pass. One that comes to pass is told as added, one that does no more as deleted, with the
    /// last state that passed. What it says must depend on the object alone.
    #[must_use]
    pub fn filter(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(passes));
        self
    }

    /// Has every object in the store told again this often, as updated, unless an event of it waits anyway; and after each
    /// list that had to be taken anew. At least a second, and once the informer runs no more often than the handlers
    /// asked for that were there before.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.hearing.resync = Some(period);
        self
    }

    /// What becomes of events that the handler does not keep up with.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.hearing.delivery = delivery;
        self
    }

    /// What a panic of the handler does.
    #[must_use]
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.hearing.on_panic = on_panic;
        self
    }

    /// Calls the handler where it may block its thread: on tokio's pool for that.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.hearing.is_blocking = true;
        self
    }

    /// A name, for logs and metrics. Keep it from growing in number: each is a line of metrics.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.hearing.name = Some(name.into());
        self
    }
}

impl<K: 'static> HandlerOptions<K> {
    /// The same for objects whose kind is not known: those of another kind do not pass.
    pub(super) fn erased(self) -> HandlerOptions<dyn AnyObject> {
        let filter = self.filter.map(|passes| -> Filter<dyn AnyObject> {
            Box::new(move |object| object.as_any().downcast_ref().is_some_and(&passes))
        });
        HandlerOptions { filter, hearing: self.hearing }
    }
}

impl<K: ?Sized> Default for HandlerOptions<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: ?Sized> fmt::Debug for HandlerOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandlerOptions { filter, hearing } = self;
        f.debug_struct("HandlerOptions").field("filter", &filter.is_some()).field("hearing", hearing).finish()
    }
}
