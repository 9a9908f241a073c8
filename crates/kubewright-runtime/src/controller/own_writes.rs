//! The writes of a controller: which caches must catch up before a key is reconciled again.

use std::{any::Any, collections::HashMap, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use super::{gate::Gate, loop_guard::LoopGuard};
use crate::{
    object::{ApiObject, ObjectKey, ResourceVersion},
    store::{Store, WriteGate},
};

/// How long a key waits at most for the cache of a write. An informer with a selector never reports a write that the
/// selector excludes, so its cache catches up with the next bookmark only.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Up to this number of keys with pending writes, no cleanup runs.
const MIN_CLEANUP_SIZE: usize = 1024;

tokio::task_local! {
    /// The reconciliation that the current task runs.
    static CURRENT: Current;
}

struct Current {
    writes: Arc<OwnWrites>,
    key: ObjectKey,
}

/// Records the writes of the reconciliations of a controller to the kinds that it watches, and is a gate for their
/// keys.
///
/// Guarantees:
/// - a key is not reconciled before the caches contain the writes of its last reconciliations;
/// - other keys do not wait, and no key waits longer than 10 s for a write;
/// - writes outside a reconciliation, such as in a task that it spawns, delay no key.
pub(super) struct OwnWrites {
    /// The first is the reconciled kind.
    kinds: Vec<Box<dyn CachedKind>>,
    pending: Mutex<Pending>,
    pub(super) loop_guard: LoopGuard,
}

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

/// The writes that were not in the caches when they were recorded, by reconciled key.
#[derive(Default)]
struct Pending {
    by_key: HashMap<ObjectKey, Vec<PendingWrite>>,
    /// The number of keys at which the next cleanup runs.
    cleanup_size: usize,
}

/// The last write to one object.
#[derive(Clone)]
struct PendingWrite {
    /// The position of its kind.
    kind: usize,
    object: ObjectKey,
    deadline: Instant,
}

/// Ends a reconciliation, also if it is cancelled or panics.
struct EndGuard<'a> {
    writes: &'a OwnWrites,
    key: &'a ObjectKey,
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.writes.loop_guard.end(self.key);
    }
}

impl OwnWrites {
    pub(super) fn new(kinds: Vec<Box<dyn CachedKind>>, loop_guard: LoopGuard) -> Arc<Self> {
        Arc::new(OwnWrites { kinds, pending: Mutex::default(), loop_guard })
    }

    /// Returns the cache of a kind, if it is watched.
    pub(super) fn store<K: ApiObject>(&self) -> Option<Store<K>> {
        let kinds = self.kinds.iter().map(|kind| kind.as_any());
        let mut found = kinds.filter_map(|kind| kind.downcast_ref::<Cached<K>>());
        found.next().map(|cached| cached.store.clone())
    }

    /// Runs the reconciliation of a key. Its writes are recorded.
    pub(super) async fn scope<F: Future>(self: &Arc<Self>, key: &ObjectKey, reconcile: F) -> F::Output {
        let _end = EndGuard { writes: self, key };
        self.loop_guard.start(key);
        CURRENT.scope(Current { writes: Arc::clone(self), key: key.clone() }, reconcile).await
    }

    /// Records a successful write, if it is one of a reconciliation of this controller.
    pub(super) fn record(self: &Arc<Self>, write: &Write) {
        let current = |current: &Current| Arc::ptr_eq(&current.writes, self).then(|| current.key.clone());
        let Ok(Some(key)) = CURRENT.try_with(current) else { return };
        let resource = (write.group.as_str(), write.plural.as_str());
        for (kind, cached) in self.kinds.iter().enumerate().filter(|(_, cached)| cached.resource() == resource) {
            if let Some(version) = write.version.as_ref().filter(|_| kind == 0 && write.key == key) {
                self.loop_guard.record_write(&key, version);
            }
            if cached.record(write) {
                self.add(&key, PendingWrite { kind, object: write.key.clone(), deadline: Instant::now() + MAX_WAIT });
            }
        }
    }

    fn add(&self, key: &ObjectKey, write: PendingWrite) {
        let mut pending = self.pending.lock();
        let writes = pending.by_key.entry(key.clone()).or_default();
        writes.retain(|other| (other.kind, &other.object) != (write.kind, &write.object));
        writes.push(write);
        if pending.by_key.len() > pending.cleanup_size.max(MIN_CLEANUP_SIZE) {
            pending.by_key.retain(|_, writes| !self.all_caught_up(writes));
            pending.cleanup_size = pending.by_key.len() * 2;
        }
    }

    fn all_caught_up(&self, writes: &[PendingWrite]) -> bool {
        let now = Instant::now();
        writes.iter().all(|write| write.deadline <= now || self.kinds[write.kind].is_caught_up(&write.object))
    }
}

impl Gate for Arc<OwnWrites> {
    fn is_open(&self, key: &ObjectKey) -> bool {
        let mut pending = self.pending.lock();
        let is_open = pending.by_key.get(key).is_none_or(|writes| self.all_caught_up(writes));
        if is_open {
            pending.by_key.remove(key);
        }
        is_open
    }

    fn wait(&self, key: &ObjectKey) -> BoxFuture<'_, ()> {
        let writes = self.pending.lock().by_key.get(key).cloned().unwrap_or_default();
        Box::pin(async move {
            for write in writes {
                tokio::select! {
                    () = self.kinds[write.kind].wait(&write.object) => {}
                    () = sleep_until(write.deadline) => {}
                }
            }
        })
    }
}

/// A kind that a controller watches, with its type erased.
pub(super) trait CachedKind: Send + Sync {
    fn as_any(&self) -> &dyn Any;

    /// Returns the group and the plural name.
    fn resource(&self) -> (&str, &str);

    /// Records a write. Returns whether the cache does not contain it yet.
    fn record(&self, write: &Write) -> bool;

    /// Returns whether the cache contains the last write to this object.
    fn is_caught_up(&self, object: &ObjectKey) -> bool;

    /// Waits until the cache contains the last write to this object; forever if its informer was stopped.
    fn wait<'a>(&'a self, object: &'a ObjectKey) -> BoxFuture<'a, ()>;
}

/// Returns the kind of this cache.
pub(super) fn cached_kind<K: ApiObject>(store: &Store<K>) -> Box<dyn CachedKind> {
    let (group, plural) = (K::group(&()).into_owned(), K::plural(&()).into_owned());
    Box::new(Cached { gate: WriteGate::new(store.clone()), store: store.clone(), group, plural })
}

struct Cached<K> {
    gate: WriteGate<K>,
    store: Store<K>,
    group: String,
    plural: String,
}

impl<K: ApiObject> CachedKind for Cached<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn resource(&self) -> (&str, &str) {
        (&self.group, &self.plural)
    }

    fn record(&self, write: &Write) -> bool {
        // Objects of other namespaces are never in the cache.
        if !self.store.has_namespace(write.key.namespace()) {
            return false;
        }
        match &write.version {
            Some(version) => self.gate.record_version(&write.key, version),
            None => self.gate.record_deletion(&write.key, write.uid.as_deref().unwrap_or_default()),
        }
        !self.gate.is_caught_up(&write.key)
    }

    fn is_caught_up(&self, object: &ObjectKey) -> bool {
        self.gate.is_caught_up(object)
    }

    fn wait<'a>(&'a self, object: &'a ObjectKey) -> BoxFuture<'a, ()> {
        Box::pin(async {
            if self.gate.wait(object).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
