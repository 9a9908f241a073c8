//! Read-your-writes: whether a store has caught up with the writes of a client.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use kube::Resource;
use parking_lot::Mutex;

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
/// # use kubewright_runtime::{ApiObject, ObjectKey, Store, WaitError, WriteGate};
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
/// - a write is caught up when the version of the store is that of the write or later, also if another client made
///   later changes. If the informer watches several namespaces, the version is that of the object's namespace;
/// - a deletion is caught up when the store has no object of that key and UID, or only one that is being deleted;
/// - what cannot be compared never blocks: a version that is not a decimal number, an object without a version, or a
///   write before the versions of the server went back, as after a restored backup;
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
    /// The version that applies to all keys, and its history.
    all_keys: Option<(ResourceVersion, u64)>,
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
    /// The history of the store's versions in which it was recorded.
    history: u64,
}

impl<K> Clone for WriteGate<K> {
    fn clone(&self) -> Self {
        WriteGate { store: self.store.clone(), pending: Arc::clone(&self.pending) }
    }
}

impl<K> fmt::Debug for WriteGate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteGate").field("keys", &self.pending.lock().by_key.len()).finish_non_exhaustive()
    }
}

impl<K: Resource + 'static> WriteGate<K> {
    /// Creates a gate for this store.
    pub fn new(store: Store<K>) -> Self {
        WriteGate { store, pending: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Store<K> {
        &self.store
    }

    /// Records an object that the server returned for a write: a create, an update, a patch, or a deletion that waits
    /// for finalizers.
    pub fn record_write(&self, object: &K) {
        if let Some(version) = ResourceVersion::from_object(object) {
            self.record_version(&ObjectKey::from_object(object), &version);
        }
    }

    /// Records the version of an object after a write.
    pub(crate) fn record_version(&self, key: &ObjectKey, version: &ResourceVersion) {
        if !version.is_number() {
            return;
        }
        self.record(key, |write| {
            if write.is_earlier(version) {
                (write.version, write.deleted) = (Some(version.clone()), None);
            }
        });
    }

    /// Records the deletion of the object with this UID.
    pub(crate) fn record_deletion(&self, key: &ObjectKey, uid: &str) {
        self.record(key, |write| write.deleted = Some(uid.into()));
    }

    /// Records the deletion of an object, given its last known state.
    pub fn record_delete(&self, object: &K) {
        let seen = ResourceVersion::from_object(object).filter(ResourceVersion::is_number);
        self.record(&ObjectKey::from_object(object), |write| {
            if let Some(seen) = seen.filter(|seen| write.is_earlier(seen)) {
                write.version = Some(seen);
            }
            write.deleted = Some(object.meta().uid.as_deref().unwrap_or_default().into());
        });
    }

    /// Returns whether the store contains the last write of this object.
    pub fn is_caught_up(&self, key: &ObjectKey) -> bool {
        let mut pending = self.pending.lock();
        let progress = &self.store.0.progress;
        let is_pending = |(version, history): &(ResourceVersion, u64)| {
            *history == progress.history() && progress.has_reached(version.as_str()) == Some(false)
        };
        if pending.all_keys.as_ref().is_some_and(is_pending) {
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
        self.pending.lock().by_key.len()
    }

    fn record(&self, key: &ObjectKey, update: impl FnOnce(&mut Write)) {
        let mut pending = self.pending.lock();
        let history = self.store.0.progress.history();
        let write = pending.by_key.entry(key.clone()).or_default();
        if write.history != history {
            *write = Write { history, ..Write::default() };
        }
        update(write);
        match self.contains(key, write) {
            true => drop(pending.by_key.remove(key)),
            false => pending.make_room(history, |key, write| self.contains(key, write)),
        }
    }

    fn contains(&self, key: &ObjectKey, write: &Write) -> bool {
        let is_gone = |uid: &str| {
            self.store.get_by_key(key).is_none_or(|object| {
                let meta = object.meta();
                meta.deletion_timestamp.is_some() || meta.uid.as_ref().is_some_and(|other| other != uid)
            })
        };
        let progress = &self.store.0.progress;
        let has_version =
            |version: &ResourceVersion| progress.has_reached_in(key.namespace(), version.as_str()).unwrap_or(true);
        let is_contained =
            || write.version.as_ref().is_none_or(has_version) && write.deleted.as_deref().is_none_or(is_gone);
        write.history != progress.history() || is_contained()
    }
}

impl PendingWrites {
    fn make_room(&mut self, history: u64, is_done: impl Fn(&ObjectKey, &Write) -> bool) {
        if self.by_key.len() > self.cleanup_size.max(MIN_CLEANUP_SIZE) {
            self.by_key.retain(|key, write| !is_done(key, write));
            self.by_key.shrink_to(self.by_key.len() * 2);
            self.cleanup_size = self.by_key.len() * 2;
        }
        if self.by_key.len() > CAPACITY {
            let earlier = self.all_keys.take().filter(|(_, earlier)| *earlier == history).map(|(version, _)| version);
            let writes = self.by_key.drain().filter(|(_, write)| write.history == history);
            let versions = writes.filter_map(|(_, write)| write.version).chain(earlier);
            self.all_keys = versions.reduce(|a, b| if b > a { b } else { a }).map(|version| (version, history));
            self.cleanup_size = 0;
        }
    }
}

impl Write {
    fn is_earlier(&self, version: &ResourceVersion) -> bool {
        self.version.as_ref().is_none_or(|known| known < version)
    }
}
