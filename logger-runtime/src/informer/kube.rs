//! Feeds kube's own `Controller` from a shared informer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::kube::runtime::reflector::{Store, store, store::Writer};
use ::kube::runtime::watcher;
use futures::Stream;

use super::config::Stopped;
use super::event::Event;
use super::inbox::Events;
use super::listener::Registration;
use super::{HandlerOptions, SharedInformer};
use crate::object::ApiObject;

/// The stream that triggers a kube `Controller`: each object that is there or changes, as it is in the store beside it then.
///
/// It ends when the informer stops; dropped, it is removed from the informer.
pub struct KubeTrigger<K: ApiObject> {
    events: Events<K>,
    registration: Registration,
    writer: Writer<K>,
    is_ready: bool,
}

impl<K: ApiObject> SharedInformer<K> {
    /// What kube's `Controller::for_shared_stream` takes (feature `unstable-runtime-subscribe` of kube): so controllers that
    /// are written for kube share this informer's watch, and hear of its objects as its handlers do.
    ///
    /// For `Controller::for_stream`, which needs `unstable-runtime-stream-control`, have the trigger yield
    /// `Ok(K::clone(&object))`.
    ///
    /// It costs: kube has a store of its own with its own copies, so each object is in memory twice and is copied twice at each
    /// change. And kube's controller does not reconcile what is deleted. The
    /// [`WorkQueue`](crate::WorkQueue) and [`events`](Self::events) have neither.
    ///
    /// ```
    /// # async fn run<K: logger_runtime::ApiObject>(
    /// #     informer: logger_runtime::SharedInformer<K>,
    /// # ) -> Result<(), logger_runtime::informer::Stopped> {
    /// let (trigger, store) = informer.for_kube()?;
    /// // kube::runtime::Controller::for_shared_stream(trigger, store).run(reconcile, error_policy, context)
    /// # drop((trigger, store));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn for_kube(&self) -> Result<(KubeTrigger<K>, Store<K>), Stopped> {
        let events = self.events_with(HandlerOptions::new())?;
        let (reader, mut writer) = store();
        writer.apply_watcher_event(&watcher::Event::Init);
        let registration = events.registration();
        Ok((KubeTrigger { events, registration, writer, is_ready: false }, reader))
    }
}

impl<K: ApiObject> KubeTrigger<K> {
    /// kube's store is read only when it has everything that was there at the start.
    fn be_ready(&mut self) {
        if !self.is_ready && self.registration.has_synced() {
            self.is_ready = true;
            self.writer.apply_watcher_event(&watcher::Event::InitDone);
        }
    }

    /// The object to trigger; none for what is gone.
    fn receive(&mut self, event: Event<K>) -> Option<Arc<K>> {
        let (object, event): (_, fn(K) -> watcher::Event<K>) = match event {
            Event::Deleted { object, .. } => (object, watcher::Event::Delete),
            Event::Added { object, .. } | Event::Updated { new: object, .. } if self.is_ready => {
                (object, watcher::Event::Apply)
            }
            Event::Added { object, .. } | Event::Updated { new: object, .. } => (object, watcher::Event::InitApply),
        };
        let event = event(K::clone(&object));
        self.writer.apply_watcher_event(&event);
        (!matches!(event, watcher::Event::Delete(_))).then_some(object)
    }
}

impl<K: ApiObject> Stream for KubeTrigger<K> {
    type Item = Arc<K>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<K>>> {
        let this = self.get_mut();
        loop {
            let next = Pin::new(&mut this.events).poll_next(context);
            this.be_ready();
            match next {
                Poll::Ready(Some(event)) => {
                    if let Some(object) = this.receive(event) {
                        return Poll::Ready(Some(object));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<K: ApiObject> fmt::Debug for KubeTrigger<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeTrigger").field("registration", &self.registration).finish_non_exhaustive()
    }
}
