//! Reading one's own writes: whether a store has what was written of an object.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Resource;

use super::{Store, WaitError};
use crate::key::ObjectKey;
use crate::version::ResourceVersion;

/// So many keys are held one by one. Writes of more are held together, as one that concerns every key.
const CAPACITY: usize = 16_384;
/// With fewer keys than this nobody looks whether some are reached.
const FEW: usize = 64;

/// Says of each key whether the store has reached what was last written of it. So a reconciler does not act on what it has
/// changed itself since. Cloning gives another handle on the same gate.
///
/// ```
/// # use logger_runtime::{ApiObject, ObjectKey, Store, WaitError, WriteGate};
/// # async fn example<K: ApiObject>(store: Store<K>, key: ObjectKey, update: impl Future<Output = K>) -> Result<(), WaitError> {
/// let gate = WriteGate::new(store);
/// let updated = update.await; // as `client.update(..)` returned it
/// gate.written(&updated);
/// // Later, before the next reconcile of this key:
/// gate.wait_within(&key, std::time::Duration::from_secs(10)).await?;
/// # Ok(()) }
/// ```
///
/// It promises:
/// - a key of which nothing was written is reached;
/// - a write is reached when the store's version is that of the write or a later one, whoever changes what then;
/// - a deletion is reached when the store has no object of that key and uid any more, or knows that it is being deleted;
/// - what cannot be compared holds nothing back: a version that is no decimal number, or an object that has none;
/// - it forgets what is reached: at most 16,384 keys are held. With more writes than that under way, their versions count
///   for every key and their deletions for none.
pub struct WriteGate<K> {
    store: Store<K>,
    awaited: Arc<Mutex<Awaited>>,
}

/// What the store has to reach, by key.
#[derive(Default)]
struct Awaited {
    by_key: HashMap<ObjectKey, Write>,
    /// What all keys have to reach.
    by_all: Option<ResourceVersion>,
    /// With so many keys, those that are reached are looked for. Twice what was left then, so that looking costs little.
    crowded: usize,
}

/// What was last written of an object.
#[derive(Default)]
struct Write {
    version: Option<ResourceVersion>,
    /// It was deleted: this uid is to go.
    deleted: Option<Box<str>>,
}

impl<K> Clone for WriteGate<K> {
    fn clone(&self) -> Self {
        WriteGate { store: self.store.clone(), awaited: Arc::clone(&self.awaited) }
    }
}

impl<K> fmt::Debug for WriteGate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteGate").field("keys", &lock(&self.awaited).by_key.len()).finish_non_exhaustive()
    }
}

impl<K: Resource + 'static> WriteGate<K> {
    /// A gate before this store.
    pub fn new(store: Store<K>) -> Self {
        WriteGate { store, awaited: Arc::default() }
    }

    /// Notes an object as the server returned it to a write: a creation, an update, a patch, or a deletion that waits for
    /// finalizers.
    pub fn written(&self, object: &K) {
        let Some(version) = ResourceVersion::of(object).filter(ResourceVersion::is_number) else { return };
        self.note(object, |write| {
            if write.is_earlier(&version) {
                *write = Write { version: Some(version), deleted: None };
            }
        });
    }

    /// Notes that an object was deleted, by what was known of it before.
    pub fn deleted(&self, object: &K) {
        let seen = ResourceVersion::of(object).filter(ResourceVersion::is_number);
        self.note(object, |write| {
            if let Some(seen) = seen.filter(|seen| write.is_earlier(seen)) {
                write.version = Some(seen);
            }
            write.deleted = Some(object.meta().uid.as_deref().unwrap_or_default().into());
        });
    }

    /// Whether the store has reached what was written of this object.
    pub fn reached(&self, key: &ObjectKey) -> bool {
        let mut awaited = lock(&self.awaited);
        if awaited.by_all.as_ref().is_some_and(|version| !self.has(version)) {
            return false;
        }
        awaited.by_all = None;
        match awaited.by_key.get(key) {
            Some(write) if !self.has_reached(key, write) => false,
            _ => {
                awaited.by_key.remove(key);
                true
            }
        }
    }

    /// Waits until [`reached`](Self::reached), for as long as the informer runs. It may be cancelled at any time.
    ///
    /// # Errors
    /// The informer was stopped.
    pub async fn wait(&self, key: &ObjectKey) -> Result<(), WaitError> {
        let answer = || {
            let is_stopped = self.store.0.progress.is_stopped();
            match self.reached(key) {
                true => Some(Ok(())),
                false => is_stopped.then(|| Err(WaitError::Stopped { here: self.store.version() })),
            }
        };
        self.store.0.progress.wait(answer).await
    }

    /// The same, for at most so long.
    ///
    /// # Errors
    /// The informer was stopped, or the deadline passed.
    pub async fn wait_within(&self, key: &ObjectKey, deadline: Duration) -> Result<(), WaitError> {
        self.store.within(deadline, self.wait(key)).await
    }

    /// How many keys are held.
    #[cfg(test)]
    pub(super) fn keys(&self) -> usize {
        lock(&self.awaited).by_key.len()
    }

    fn note(&self, object: &K, note: impl FnOnce(&mut Write)) {
        let key = ObjectKey::of(object);
        let mut awaited = lock(&self.awaited);
        let write = awaited.by_key.entry(key.clone()).or_default();
        note(write);
        match self.has_reached(&key, write) {
            true => drop(awaited.by_key.remove(&key)),
            false => awaited.make_room(|key, write| self.has_reached(key, write)),
        }
    }

    fn has_reached(&self, key: &ObjectKey, write: &Write) -> bool {
        let is_gone = |uid: &str| {
            self.store.get_by_key(key).is_none_or(|object| {
                let meta = object.meta();
                meta.deletion_timestamp.is_some() || meta.uid.as_ref().is_some_and(|other| other != uid)
            })
        };
        write.version.as_ref().is_none_or(|version| self.has(version)) && write.deleted.as_deref().is_none_or(is_gone)
    }

    fn has(&self, version: &ResourceVersion) -> bool {
        self.store.0.progress.has_reached(version.as_str()).unwrap_or(true)
    }
}

impl Awaited {
    fn make_room(&mut self, has_reached: impl Fn(&ObjectKey, &Write) -> bool) {
        if self.by_key.len() > self.crowded.max(FEW) {
            self.by_key.retain(|key, write| !has_reached(key, write));
            self.by_key.shrink_to(self.by_key.len() * 2);
            self.crowded = self.by_key.len() * 2;
        }
        if self.by_key.len() > CAPACITY {
            let versions = self.by_key.drain().filter_map(|(_, write)| write.version).chain(self.by_all.take());
            self.by_all = versions.reduce(|a, b| if b > a { b } else { a });
            self.crowded = 0;
        }
    }
}

impl Write {
    fn is_earlier(&self, version: &ResourceVersion) -> bool {
        self.version.as_ref().is_none_or(|known| known < version)
    }
}

/// What this guards is whole at every step.
fn lock(awaited: &Mutex<Awaited>) -> MutexGuard<'_, Awaited> {
    awaited.lock().unwrap_or_else(PoisonError::into_inner)
}
