//! Informers and listers of a resource whose kind is not known to the caller.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::factory::SyncError;
use crate::informer::{AnyObject, Event, HandlerOptions, Registration, SharedInformer, Stopped, erased};
use crate::object::ApiObject;

/// The informer of a resource. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct GenericInformer(Arc<dyn AnyInformer>);

/// Reads the objects of a resource from an informer's store.
#[derive(Clone)]
pub struct GenericLister(Arc<dyn AnyInformer>);

type Handler = Box<dyn FnMut(Event<dyn AnyObject>) + Send>;

trait AnyInformer: fmt::Debug + Send + Sync {
    fn list(&self) -> Vec<Arc<dyn AnyObject>>;
    fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>>;
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>>;
    fn listen(&self, options: HandlerOptions<dyn AnyObject>, handler: Handler) -> Result<Registration, Stopped>;
    fn has_synced(&self) -> bool;
    fn wait_for_sync(&self) -> BoxFuture<'_, ()>;
    fn wait_for_sync_within(&self, deadline: Duration) -> BoxFuture<'_, Result<(), SyncError>>;
}

impl<K: ApiObject> AnyInformer for SharedInformer<K> {
    fn list(&self) -> Vec<Arc<dyn AnyObject>> {
        self.store().list().into_iter().map(erased).collect()
    }

    fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>> {
        self.store().list_namespace(namespace).into_iter().map(erased).collect()
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>> {
        self.store().get(namespace, name).map(erased)
    }

    fn listen(&self, options: HandlerOptions<dyn AnyObject>, handler: Handler) -> Result<Registration, Stopped> {
        SharedInformer::listen(self, options, handler)
    }

    fn has_synced(&self) -> bool {
        SharedInformer::has_synced(self)
    }

    fn wait_for_sync(&self) -> BoxFuture<'_, ()> {
        Box::pin(SharedInformer::wait_for_sync(self))
    }

    fn wait_for_sync_within(&self, deadline: Duration) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(SharedInformer::wait_for_sync_within(self, deadline))
    }
}

impl GenericInformer {
    /// This informer, as one of a kind that is not known.
    pub fn new<K: ApiObject>(informer: SharedInformer<K>) -> Self {
        GenericInformer(Arc::new(informer))
    }

    /// Reads the objects as last seen.
    pub fn lister(&self) -> GenericLister {
        GenericLister(Arc::clone(&self.0))
    }

    /// See [`SharedInformer::add_event_handler`].
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn add_event_handler(
        &self,
        handler: impl FnMut(&Event<dyn AnyObject>) + Send + 'static,
    ) -> Result<Registration, Stopped> {
        self.add_event_handler_with(HandlerOptions::new(), handler)
    }

    /// See [`SharedInformer::add_event_handler_with`].
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn add_event_handler_with(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        mut handler: impl FnMut(&Event<dyn AnyObject>) + Send + 'static,
    ) -> Result<Registration, Stopped> {
        self.0.listen(options, Box::new(move |event| handler(&event)))
    }

    /// See [`SharedInformer::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// See [`SharedInformer::wait_for_sync`].
    pub async fn wait_for_sync(&self) {
        self.0.wait_for_sync().await;
    }

    /// See [`SharedInformer::wait_for_sync_within`].
    ///
    /// # Errors
    /// It has not synced within `deadline`: the error says why.
    pub async fn wait_for_sync_within(&self, deadline: Duration) -> Result<(), SyncError> {
        self.0.wait_for_sync_within(deadline).await
    }
}

impl GenericLister {
    /// All objects, in no order.
    pub fn list(&self) -> Vec<Arc<dyn AnyObject>> {
        self.0.list()
    }

    /// The objects of a namespace, in no order.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>> {
        self.0.list_namespace(namespace)
    }

    /// The object of this name; the namespace is empty for objects of the cluster.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>> {
        self.0.get(namespace, name)
    }
}

impl fmt::Debug for GenericInformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GenericInformer").field(&self.0).finish()
    }
}

impl fmt::Debug for GenericLister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GenericLister").field(&self.0).finish()
    }
}
