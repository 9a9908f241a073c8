//! Read-your-writes: whether a store has caught up with the writes of a client.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kube::Resource;

use super::{Store, WaitError};
use crate::object::{ObjectKey, ResourceVersion};

/// The maximum number of keys with pending writes. The writes of more keys are merged into one version for all keys.
const CAPACITY: usize = 16_384;
/// Up to this number of keys, no cleanup runs.
const MIN_CLEANUP_SIZE: usize = 64;

/// Reports for each key whether the store contains the last write, so that a reconciler does not act on a state that it
/// has changed since. Clones share the writes.
///
/// ```
/// # use logger_runtime::{ApiObject, ObjectKey, Store, WaitError, WriteGate};
/// # async fn example<K: ApiObject>(
/// #     store: Store<K>,
/// #     key: ObjectKey,
/// #     update: impl Future<Output = K>,
/// # ) -> Result<(), WaitError> {
/// let gate = WriteGate::new(store);
/// let updated = update.await; // the result of `client.update(..)`
/// gate.record_write(&updated);
/// // Later, before the next reconcile of this key:
/// gate.wait_within(&key, std::time::Duration::from_secs(10)).await?;
/// # Ok(()) }
/// ```
///
/// Guarantees:
/// - a key without writes is caught up;
/// - a write is caught up when the version of the store is that of the write or later, also if another client made later changes;
/// - a deletion is caught up when the store has no object of that key and UID, or only one that is being deleted;
/// - what cannot be compared never blocks: a version that is not a decimal number, or an object without a version;
/// - writes that are caught up are removed: at most 16,384 keys are stored. If more writes are pending, their versions
///   apply to all keys, and their deletions to none.
pub struct WriteGate<K> {
    store: Store<K>,
    pending: Arc<Mutex<PendingWrites>>,
}

/// The writes that the store has not caught up with.
#[derive(Default)]
struct PendingWrites {
    by_key: HashMap<ObjectKey, Write>,
    /// The version that applies to all keys.
    all_keys: Option<ResourceVersion>,
    /// The number of keys at which the next cleanup runs: twice the number after the last one, so that its amortized
    /// cost is constant.
    cleanup_size: usize,
}

/// The last write of an object.
#[derive(Default)]
struct Write {
    version: Option<ResourceVersion>,
    /// The UID of the deleted object, if it was deleted.
    deleted: Option<Box<str>>,
}

impl<K> Clone for WriteGate<K> {
    fn clone(&self) -> Self {
        WriteGate { store: self.store.clone(), pending: Arc::clone(&self.pending) }
    }
}

impl<K> fmt::Debug for WriteGate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteGate").field("keys", &lock(&self.pending).by_key.len()).finish_non_exhaustive()
    }
}

impl<K: Resource + 'static> WriteGate<K> {
    /// Creates a gate for this store.
    pub fn new(store: Store<K>) -> Self {
        WriteGate { store, pending: Arc::default() }
    }

    /// Records an object that the server returned for a write: a create, an update, a patch, or a deletion that waits
    /// for finalizers.
    pub fn record_write(&self, object: &K) {
        let Some(version) = ResourceVersion::from_object(object).filter(ResourceVersion::is_number) else { return };
        self.record(object, |write| {
            if write.is_earlier(&version) {
                *write = Write { version: Some(version), deleted: None };
            }
        });
    }

    /// Records the deletion of an object, given its last known state.
    pub fn record_delete(&self, object: &K) {
        let seen = ResourceVersion::from_object(object).filter(ResourceVersion::is_number);
        self.record(object, |write| {
            if let Some(seen) = seen.filter(|seen| write.is_earlier(seen)) {
                write.version = Some(seen);
            }
            write.deleted = Some(object.meta().uid.as_deref().unwrap_or_default().into());
        });
    }

    /// Returns whether the store contains the last write of this object.
    pub fn is_caught_up(&self, key: &ObjectKey) -> bool {
        let mut pending = lock(&self.pending);
        if pending.all_keys.as_ref().is_some_and(|version| !self.has_version(version)) {
            return false;
        }
        pending.all_keys = None;
        match pending.by_key.get(key) {
            Some(write) if !self.contains(key, write) => false,
            _ => {
                pending.by_key.remove(key);
                true
            }
        }
    }

    /// Waits until the key [is caught up](Self::is_caught_up), for as long as the informer runs. This method is
    /// cancel-safe.
    ///
    /// # Errors
    /// Fails if the informer was stopped.
    pub async fn wait(&self, key: &ObjectKey) -> Result<(), WaitError> {
        let result = || {
            let is_stopped = self.store.0.progress.is_stopped();
            match self.is_caught_up(key) {
                true => Some(Ok(())),
                false => is_stopped.then(|| Err(WaitError::Stopped { current: self.store.resource_version() })),
            }
        };
        self.store.0.progress.wait(result).await
    }

    /// Waits like [`wait`](Self::wait), with a deadline.
    ///
    /// # Errors
    /// Fails if the informer was stopped or the deadline passed.
    pub async fn wait_within(&self, key: &ObjectKey, deadline: Duration) -> Result<(), WaitError> {
        self.store.within(deadline, self.wait(key)).await
    }

    /// Returns the number of keys with pending writes.
    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        lock(&self.pending).by_key.len()
    }

    fn record(&self, object: &K, update: impl FnOnce(&mut Write)) {
        let key = ObjectKey::from_object(object);
        let mut pending = lock(&self.pending);
        let write = pending.by_key.entry(key.clone()).or_default();
        update(write);
        match self.contains(&key, write) {
            true => drop(pending.by_key.remove(&key)),
            false => pending.make_room(|key, write| self.contains(key, write)),
        }
    }

    fn contains(&self, key: &ObjectKey, write: &Write) -> bool {
        let is_gone = |uid: &str| {
            self.store.get_by_key(key).is_none_or(|object| {
                let meta = object.meta();
                meta.deletion_timestamp.is_some() || meta.uid.as_ref().is_some_and(|other| other != uid)
            })
        };
        write.version.as_ref().is_none_or(|version| self.has_version(version))
            && write.deleted.as_deref().is_none_or(is_gone)
    }

    fn has_version(&self, version: &ResourceVersion) -> bool {
        self.store.0.progress.has_reached(version.as_str()).unwrap_or(true)
    }
}

impl PendingWrites {
    fn make_room(&mut self, is_done: impl Fn(&ObjectKey, &Write) -> bool) {
        if self.by_key.len() > self.cleanup_size.max(MIN_CLEANUP_SIZE) {
            self.by_key.retain(|key, write| !is_done(key, write));
            self.by_key.shrink_to(self.by_key.len() * 2);
            self.cleanup_size = self.by_key.len() * 2;
        }
        if self.by_key.len() > CAPACITY {
            let versions = self.by_key.drain().filter_map(|(_, write)| write.version).chain(self.all_keys.take());
            self.all_keys = versions.reduce(|a, b| if b > a { b } else { a });
            self.cleanup_size = 0;
        }
    }
}

impl Write {
    fn is_earlier(&self, version: &ResourceVersion) -> bool {
        self.version.as_ref().is_none_or(|known| known < version)
    }
}

/// Ignores poisoning: no panic can leave the writes inconsistent.
fn lock(pending: &Mutex<PendingWrites>) -> MutexGuard<'_, PendingWrites> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}
