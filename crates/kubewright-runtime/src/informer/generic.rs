//! Informers and listers of a resource whose kind is known at run time only.

use std::{fmt, sync::Arc, time::Duration};

use futures::future::BoxFuture;

use super::{
    SharedInformer, SyncError,
    config::Stopped,
    event::{AnyObject, Event, erase},
    handler_options::HandlerOptions,
    listener::HandlerRegistration,
    receiver::Handler,
};
use crate::object::ApiObject;

/// The informer of a resource, with the kind erased. Clones are handles of the same informer.
#[derive(Clone)]
pub struct GenericInformer(Arc<dyn AnyInformer>);

/// Reads the objects of a resource from an informer's store, with the kind erased.
#[derive(Clone)]
pub struct GenericLister(Arc<dyn AnyInformer>);

trait AnyInformer: fmt::Debug + Send + Sync {
    fn list(&self) -> Vec<Arc<dyn AnyObject>>;
    fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>>;
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>>;
    fn add_handler(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        handler: Handler,
    ) -> Result<HandlerRegistration, Stopped>;
    fn has_synced(&self) -> bool;
    fn wait_for_sync(&self) -> BoxFuture<'_, Result<(), SyncError>>;
    fn wait_for_sync_within(&self, deadline: Duration) -> BoxFuture<'_, Result<(), SyncError>>;
}

impl<K: ApiObject> AnyInformer for SharedInformer<K> {
    fn list(&self) -> Vec<Arc<dyn AnyObject>> {
        self.store().list().into_iter().map(erase).collect()
    }

    fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>> {
        self.store().list_namespace(namespace).into_iter().map(erase).collect()
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>> {
        self.store().get(namespace, name).map(erase)
    }

    fn add_handler(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        handler: Handler,
    ) -> Result<HandlerRegistration, Stopped> {
        SharedInformer::add_handler(self, options, handler)
    }

    fn has_synced(&self) -> bool {
        SharedInformer::has_synced(self)
    }

    fn wait_for_sync(&self) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(SharedInformer::wait_for_sync(self))
    }

    fn wait_for_sync_within(&self, deadline: Duration) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(SharedInformer::wait_for_sync_within(self, deadline))
    }
}

impl GenericInformer {
    /// Erases the kind of an informer.
    pub fn new<K: ApiObject>(informer: SharedInformer<K>) -> Self {
        GenericInformer(Arc::new(informer))
    }

    /// Returns the lister of the informer's store.
    pub fn lister(&self) -> GenericLister {
        GenericLister(Arc::clone(&self.0))
    }

    /// Adds a handler. See [`SharedInformer::add_event_handler`].
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn add_event_handler(
        &self,
        handler: impl FnMut(&Event<dyn AnyObject>) + Send + 'static,
    ) -> Result<HandlerRegistration, Stopped> {
        self.add_event_handler_with(HandlerOptions::new(), handler)
    }

    /// Adds a handler with options. See [`SharedInformer::add_event_handler_with`].
    ///
    /// # Errors
    /// Fails if the informer is stopped.
    pub fn add_event_handler_with(
        &self,
        options: HandlerOptions<dyn AnyObject>,
        mut handler: impl FnMut(&Event<dyn AnyObject>) + Send + 'static,
    ) -> Result<HandlerRegistration, Stopped> {
        self.0.add_handler(options, Box::new(move |event| handler(&event)))
    }

    /// Returns whether the informer has synced. See [`SharedInformer::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// Waits until the informer has synced. See [`SharedInformer::wait_for_sync`].
    ///
    /// # Errors
    /// Fails if the informer failed, or was stopped before it had synced.
    pub async fn wait_for_sync(&self) -> Result<(), SyncError> {
        self.0.wait_for_sync().await
    }

    /// Waits until the informer has synced, with a deadline. See [`SharedInformer::wait_for_sync_within`].
    ///
    /// # Errors
    /// Fails if the informer has not synced within the deadline, with the reason.
    pub async fn wait_for_sync_within(&self, deadline: Duration) -> Result<(), SyncError> {
        self.0.wait_for_sync_within(deadline).await
    }
}

impl GenericLister {
    /// Lists all objects, unordered.
    pub fn list(&self) -> Vec<Arc<dyn AnyObject>> {
        self.0.list()
    }

    /// Lists the objects of a namespace, unordered.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>> {
        self.0.list_namespace(namespace)
    }

    /// Returns the object of this name. The namespace is empty for a cluster-scoped object.
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
