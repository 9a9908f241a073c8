//! Work that waits until the cache has what was written.

use futures::future::BoxFuture;

use crate::key::ObjectKey;
use crate::object::ApiObject;
use crate::store::WriteGate;

/// The gate of some kind before the work on a key.
pub(super) trait Gate: Send + Sync {
    /// Whether the cache has all that was written and has to do with this key.
    fn is_open(&self, key: &ObjectKey) -> bool;

    /// Waits until it has; for ever if its informer was stopped.
    fn wait(&self, key: &ObjectKey) -> BoxFuture<'_, ()>;
}

/// A gate, and which keys of its objects have to do with a key that is worked on.
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
        (self.keys)(key).into_iter().all(|key| self.gate.reached(&key))
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
