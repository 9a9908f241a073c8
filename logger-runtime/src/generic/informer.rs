//! Informers and listers of a resource whose kind is not known to the caller.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::informer::{Event, Registration, SharedInformer};
use crate::object::ApiObject;

/// An object of any kind, to be downcast through [`as_any`](Self::as_any).
pub trait AnyObject: Any + Debug + Send + Sync {
    /// Its metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// Itself.
    fn as_any(&self) -> &dyn Any;
}

impl<K: ApiObject> AnyObject for K {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The informer of a resource. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct GenericInformer(Arc<dyn AnyInformer>);

/// Reads the objects of a resource from an informer's store.
#[derive(Clone)]
pub struct GenericLister(Arc<dyn AnyInformer>);

type Handler = Box<dyn Fn(&Event<dyn AnyObject>) + Send + Sync>;

trait AnyInformer: Send + Sync {
    fn list(&self) -> Vec<Arc<dyn AnyObject>>;
    fn list_namespace(&self, namespace: &str) -> Vec<Arc<dyn AnyObject>>;
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<dyn AnyObject>>;
    fn add_event_handler(&self, handler: Handler) -> Registration;
    fn remove_event_handler(&self, registration: Registration);
    fn has_synced(&self) -> bool;
    fn wait_for_sync(&self) -> BoxFuture<'_, ()>;
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

    fn add_event_handler(&self, handler: Handler) -> Registration {
        SharedInformer::add_event_handler(self, move |event| {
            handler(&match event {
                Event::Added { object, initial } => {
                    Event::Added { object: erased(Arc::clone(object)), initial: *initial }
                }
                Event::Updated { old, new } => {
                    Event::Updated { old: erased(Arc::clone(old)), new: erased(Arc::clone(new)) }
                }
                Event::Deleted { object, final_state_unknown } => {
                    Event::Deleted { object: erased(Arc::clone(object)), final_state_unknown: *final_state_unknown }
                }
            });
        })
    }

    fn remove_event_handler(&self, registration: Registration) {
        SharedInformer::remove_event_handler(self, registration);
    }

    fn has_synced(&self) -> bool {
        SharedInformer::has_synced(self)
    }

    fn wait_for_sync(&self) -> BoxFuture<'_, ()> {
        Box::pin(SharedInformer::wait_for_sync(self))
    }
}

fn erased<K: ApiObject>(object: Arc<K>) -> Arc<dyn AnyObject> {
    object
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
    pub fn add_event_handler(&self, handler: impl Fn(&Event<dyn AnyObject>) + Send + Sync + 'static) -> Registration {
        self.0.add_event_handler(Box::new(handler))
    }

    /// See [`SharedInformer::remove_event_handler`].
    pub fn remove_event_handler(&self, registration: Registration) {
        self.0.remove_event_handler(registration);
    }

    /// See [`SharedInformer::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// See [`SharedInformer::wait_for_sync`].
    pub async fn wait_for_sync(&self) {
        self.0.wait_for_sync().await;
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
