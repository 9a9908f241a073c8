//! Gates: the processing of a key waits until the caches contain the writes that belong to it.

use std::{any::Any, sync::Arc};

use futures::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use crate::{
    object::{ApiObject, ObjectKey, ResourceVersion},
    store::WriteGate,
};

/// A successful write to an object, or to a subresource of it.
#[derive(Debug, PartialEq)]
pub(super) struct Write {
    pub(super) group: String,
    pub(super) plural: String,
    pub(super) key: ObjectKey,
    /// The version after the write; `None` if the object was deleted.
    pub(super) version: Option<ResourceVersion>,
    /// The UID, if the response contains it.
    pub(super) uid: Option<String>,
}

/// A write gate, with the kind erased.
pub(super) trait AnyWriteGate: Send + Sync {
    fn as_any(&self) -> &dyn Any;

    /// Returns whether the kind has this group and plural name.
    fn has_resource(&self, group: &str, plural: &str) -> bool;

    /// Records a write. Returns whether the cache does not contain it yet.
    fn record(&self, write: &Write) -> bool;

    /// Returns whether the cache contains the last write to this object.
    fn is_caught_up(&self, object: &ObjectKey) -> bool;

    /// Waits until the cache contains the last write to this object; forever if its informer was stopped.
    fn wait<'a>(&'a self, object: &'a ObjectKey) -> BoxFuture<'a, ()>;
}

impl<K: ApiObject> AnyWriteGate for WriteGate<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn has_resource(&self, group: &str, plural: &str) -> bool {
        K::group(&()) == group && K::plural(&()) == plural
    }

    fn record(&self, write: &Write) -> bool {
        // Objects of other namespaces are never in the cache.
        if !self.store().has_namespace(write.key.namespace()) {
            return false;
        }
        match &write.version {
            Some(version) => self.record_version(&write.key, version),
            None => self.record_deletion(&write.key, write.uid.as_deref().unwrap_or_default()),
        }
        !WriteGate::is_caught_up(self, &write.key)
    }

    fn is_caught_up(&self, object: &ObjectKey) -> bool {
        WriteGate::is_caught_up(self, object)
    }

    fn wait<'a>(&'a self, object: &'a ObjectKey) -> BoxFuture<'a, ()> {
        Box::pin(async {
            if WriteGate::wait(self, object).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// The last write to one object, for which the processing of a key waits.
#[derive(Clone)]
pub(super) struct PendingWrite {
    gate: Arc<dyn AnyWriteGate>,
    object: ObjectKey,
    /// When the key no longer waits.
    deadline: Option<Instant>,
}

impl PendingWrite {
    pub(super) fn new(gate: &Arc<dyn AnyWriteGate>, object: ObjectKey, deadline: Option<Instant>) -> Self {
        PendingWrite { gate: Arc::clone(gate), object, deadline }
    }

    pub(super) fn is_to_same_object(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.gate, &other.gate) && self.object == other.object
    }

    /// Returns whether the cache contains the write, or the deadline has passed.
    pub(super) fn is_completed(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now()) || self.gate.is_caught_up(&self.object)
    }

    /// Waits until the write is completed.
    pub(super) async fn wait(&self) {
        let caught_up = self.gate.wait(&self.object);
        match self.deadline {
            Some(deadline) => drop(timeout_at(deadline, caught_up).await),
            None => caught_up.await,
        }
    }
}

type KeysFn = dyn Fn(&ObjectKey) -> Vec<ObjectKey> + Send + Sync;

/// A write gate of a user, and a function from a processed key to the keys of the related objects.
pub(super) struct Gate {
    gate: Arc<dyn AnyWriteGate>,
    keys: Box<KeysFn>,
}

impl Gate {
    pub(super) fn new<F, I>(gate: impl AnyWriteGate + 'static, keys: F) -> Self
    where
        F: Fn(&ObjectKey) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        Gate { gate: Arc::new(gate), keys: Box::new(move |key| keys(key).into_iter().collect()) }
    }

    /// Returns the writes for which the processing of a key waits.
    pub(super) fn pending_writes(&self, key: &ObjectKey) -> impl Iterator<Item = PendingWrite> {
        let writes = (self.keys)(key).into_iter().map(|object| PendingWrite::new(&self.gate, object, None));
        writes.filter(|write| !write.is_completed())
    }
}
