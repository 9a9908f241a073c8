//! The events of an informer, and objects with an erased kind.

use std::{any::Any, fmt::Debug, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::object::ApiObject;

/// A change of an object.
#[derive(Debug)]
pub enum Event<K: ?Sized> {
    /// The object was added.
    Added {
        /// The object.
        object: Arc<K>,
        /// Whether it existed before this handler was added or the informer started.
        initial: bool,
    },
    /// The object was changed.
    Updated {
        /// The last state that this handler saw: intermediate states can be omitted. In a resync, the same object as
        /// the new one.
        old: Arc<K>,
        /// The current state.
        new: Arc<K>,
    },
    /// The object was deleted.
    Deleted {
        /// Its final state, or the last known one if the deletion itself was missed.
        object: Arc<K>,
        /// Whether the deletion itself was missed, for example while the connection was down.
        final_state_unknown: bool,
    },
}

impl<K: ?Sized> Event<K> {
    /// Returns the object in its current or last state.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Event::Added { object, .. } | Event::Deleted { object, .. } | Event::Updated { new: object, .. } => object,
        }
    }

    /// Maps the references to the objects.
    pub(crate) fn map<T: ?Sized>(self, to: impl Fn(Arc<K>) -> Arc<T>) -> Event<T> {
        match self {
            Event::Added { object, initial } => Event::Added { object: to(object), initial },
            Event::Updated { old, new } => Event::Updated { old: to(old), new: to(new) },
            Event::Deleted { object, final_state_unknown } => {
                Event::Deleted { object: to(object), final_state_unknown }
            }
        }
    }
}

impl<K: ?Sized> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Event::Added { object, initial } => Event::Added { object: Arc::clone(object), initial: *initial },
            Event::Updated { old, new } => Event::Updated { old: Arc::clone(old), new: Arc::clone(new) },
            Event::Deleted { object, final_state_unknown } => {
                Event::Deleted { object: Arc::clone(object), final_state_unknown: *final_state_unknown }
            }
        }
    }
}

/// An object with an erased kind, which [`as_any`](Self::as_any) can downcast.
pub trait AnyObject: Any + Debug + Send + Sync {
    /// Returns the metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// Returns the object for a downcast.
    fn as_any(&self) -> &dyn Any;

    /// Returns the shared reference for a downcast.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<K: ApiObject> AnyObject for K {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Erases the kind of an object.
pub(super) fn erase<K: ApiObject>(object: Arc<K>) -> Arc<dyn AnyObject> {
    object
}

/// Restores the kind of an event of an informer of that kind.
pub(super) fn downcast<K: ApiObject>(event: Event<dyn AnyObject>) -> Event<K> {
    event.map(|object| object.into_any().downcast().expect("an informer has objects of one kind"))
}
