//! Gates: the processing of a key waits until the caches have caught up with its writes.

use futures::future::BoxFuture;

use crate::{
    object::{ApiObject, ObjectKey},
    store::WriteGate,
};

/// A gate for the processing of keys, with the kind of its objects erased.
pub(super) trait Gate: Send + Sync {
    /// Returns whether the cache contains all writes related to this key.
    fn is_open(&self, key: &ObjectKey) -> bool;

    /// Waits until the gate is open; forever if its informer was stopped.
    fn wait(&self, key: &ObjectKey) -> BoxFuture<'_, ()>;
}

/// A write gate, and a function from a processed key to the keys of the related objects.
pub(super) struct KeyedGate<K, F> {
    pub(super) gate: WriteGate<K>,
    pub(super) keys: F,
}

impl<K, F, I> Gate for KeyedGate<K, F>
where
    K: ApiObject,
    F: Fn(&ObjectKey) -> I + Send + Sync,
    I: IntoIterator<Item = ObjectKey>,
{
    fn is_open(&self, key: &ObjectKey) -> bool {
        (self.keys)(key).into_iter().all(|key| self.gate.is_caught_up(&key))
    }

    fn wait(&self, key: &ObjectKey) -> BoxFuture<'_, ()> {
        let keys: Vec<_> = (self.keys)(key).into_iter().collect();
        Box::pin(async move {
            for key in keys {
                if self.gate.wait(&key).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        })
    }
}
