//! What a handler hears of, and an object whose kind is not known.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::object::ApiObject;

/// What happened to an object.
#[derive(Debug)]
pub enum Event<K: ?Sized> {
    /// It is there now.
    Added {
        /// The object.
        object: Arc<K>,
        /// It was there before this handler or the informer began.
        initial: bool,
    },
    /// It changed.
    Updated {
        /// What it was when this handler last heard of it: states between may have been left out. At a resync, and after a
        /// list that brought nothing new to a handler that asked for resyncs, the very same object as the new one.
        old: Arc<K>,
        /// What it is.
        new: Arc<K>,
    },
    /// It is gone.
    Deleted {
        /// Its final state, or the last one known if the deletion itself was missed.
        object: Arc<K>,
        /// The deletion itself was missed, as while the connection was down.
        final_state_unknown: bool,
    },
}

impl<K: ?Sized> Event<K> {
    /// The object, as it now is or last was.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Event::Added { object, .. } | Event::Deleted { object, .. } | Event::Updated { new: object, .. } => object,
        }
    }

    /// The same of other handles on the same objects.
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

/// An object of any kind, to be downcast through [`as_any`](Self::as_any).
pub trait AnyObject: Any + Debug + Send + Sync {
    /// Its metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// Itself.
    fn as_any(&self) -> &dyn Any;

    /// The shared handle on it, to be downcast.
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

/// The kind is forgotten, the object is the same.
pub(crate) fn erased<K: ApiObject>(object: Arc<K>) -> Arc<dyn AnyObject> {
    object
}

/// The kind is known again: whoever listens to an informer of a kind hears of that kind alone.
pub(super) fn typed<K: ApiObject>(event: Event<dyn AnyObject>) -> Event<K> {
    event.map(|object| object.into_any().downcast().expect("an informer tells of objects of its own kind"))
}
