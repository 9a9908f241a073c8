//! Adapter from a shared informer to kube's `Controller`.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::Stream;
use kube::runtime::{
    reflector::{
        Store,
        store::{self, Writer},
    },
    watcher,
};

use super::{
    HandlerOptions, SharedInformer, config::Stopped, event::Event, listener::HandlerRegistration, receiver::Events,
};
use crate::object::ApiObject;

/// The trigger stream of a kube `Controller`: each object that exists or changes, in the state that kube's store then
/// has.
///
/// It ends when the informer stops; dropping it removes it from the informer.
pub struct KubeTrigger<K: ApiObject> {
    events: Events<K>,
    registration: HandlerRegistration,
    writer: Writer<K>,
    is_ready: bool,
}

impl<K: ApiObject> SharedInformer<K> {
    /// Returns the trigger stream and the store for kube's `Controller::for_shared_stream` (kube's feature
    /// `unstable-runtime-subscribe`), so that controllers written for kube share the watch of this informer.
    ///
    /// For `Controller::for_stream`, which needs `unstable-runtime-stream-control`, map the items of the stream to
    /// `Ok(K::clone(&object))`.
    ///
    /// The costs: kube has a separate store with its own copies, so each object is stored twice and cloned at each
    /// change. Also, kube's controller does not reconcile deleted objects. A [`WorkQueue`](crate::WorkQueue) or
    /// [`events`](Self::events) avoids both.
    ///
    /// ```
    /// # async fn run<K: kubewright_runtime::ApiObject>(
    /// #     informer: kubewright_runtime::SharedInformer<K>,
    /// # ) -> Result<(), kubewright_runtime::informer::Stopped> {
    /// let (trigger, store) = informer.for_kube()?;
    /// // kube::runtime::Controller::for_shared_stream(trigger, store).run(reconcile, error_policy, context)
    /// # drop((trigger, store));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn for_kube(&self) -> Result<(KubeTrigger<K>, Store<K>), Stopped> {
        let events = self.events_with(HandlerOptions::new())?;
        let (reader, mut writer) = store::store();
        writer.apply_watcher_event(&watcher::Event::Init);
        let registration = events.registration();
        Ok((KubeTrigger { events, registration, writer, is_ready: false }, reader))
    }
}

impl<K: ApiObject> KubeTrigger<K> {
    /// Marks kube's store as ready when it contains all initial objects.
    fn finish_init(&mut self) {
        if !self.is_ready && self.registration.has_synced() {
            self.is_ready = true;
            self.writer.apply_watcher_event(&watcher::Event::InitDone);
        }
    }

    /// Applies an event to kube's store and returns the object to trigger; `None` for a deleted object.
    fn apply(&mut self, event: Event<K>) -> Option<Arc<K>> {
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
            this.finish_init();
            match next {
                Poll::Ready(Some(event)) => {
                    if let Some(object) = this.apply(event) {
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
