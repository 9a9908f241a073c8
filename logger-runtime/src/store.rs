//! The store: a copy of the server's objects, by namespace and by the indexes it was given.

mod gate;
#[cfg(test)]
mod model;
mod overlay;
mod progress;
mod receive;
mod table;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kube::Resource;
use kube::core::{Selector, SelectorExt};

use crate::index::{AnyKept, Index, IndexError, IndexFunction, IndexValue, Kept};
use crate::key::ObjectKey;

pub use gate::WriteGate;
pub use overlay::WriteOverlay;
pub use progress::WaitError;
pub(crate) use receive::Change;
use table::Table;
pub(crate) use table::{fit, key_of, name_of, namespace_of, put};

/// The objects of a kind as an informer last saw them. Cloning gives another handle on the same store.
///
/// It promises:
/// - objects are shared and nobody can change them: what is read stays as it was read;
/// - every query sees one state; a replacement of all objects is one step;
/// - finding by key, namespace or index does not look at other objects, and finding by key allocates nothing;
/// - it tells [how far it is](Self::version), and can be [waited for](Self::wait_for);
/// - it holds each object once, and no copy of its name: an object that comes again in the same version is the one it has.
///
/// Lists are in no order: sort them if you need one, as by [`ObjectKey::of`]. An object whose name a transform took away is
/// kept under the empty name.
///
/// An informer fills its store. For the tests of what reads one, a store can be collected from objects:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use logger_runtime::{Lister, Store};
///
/// let mut map = ConfigMap::default();
/// map.metadata.namespace = Some("default".into());
/// map.metadata.name = Some("audit".into());
/// let lister = Lister::new(Store::from_iter([map]));
/// assert!(lister.namespace("default").get("audit").is_ok());
/// ```
pub struct Store<K>(Arc<Shared<K>>);

struct Shared<K> {
    objects: RwLock<Objects<K>>,
    /// Held by who changes the objects, so that what it reads before does not change under it.
    writing: Mutex<()>,
    progress: progress::Progress,
}

/// The objects by namespace and name, and the indexes on them.
struct Objects<K> {
    table: Table<K>,
    indexes: Vec<Box<dyn AnyKept<K>>>,
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Store(Arc::clone(&self.0))
    }
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        let objects = RwLock::new(Objects { table: Table::default(), indexes: Vec::new() });
        Store(Arc::new(Shared { objects, writing: Mutex::default(), progress: progress::Progress::default() }))
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, version) = (self.read().table.len(), self.0.progress.version());
        f.debug_struct("Store").field("len", &len).field("version", &version).finish_non_exhaustive()
    }
}

/// Of two objects of one namespace and name the last stays.
impl<K: Resource> FromIterator<Arc<K>> for Store<K> {
    fn from_iter<I: IntoIterator<Item = Arc<K>>>(objects: I) -> Self {
        let store = Store::default();
        {
            let mut all = store.write();
            objects.into_iter().for_each(|object| drop(all.table.insert(object)));
        }
        store
    }
}

impl<K: Resource> FromIterator<K> for Store<K> {
    fn from_iter<I: IntoIterator<Item = K>>(objects: I) -> Self {
        objects.into_iter().map(Arc::new).collect()
    }
}

impl<K: Resource + 'static> Store<K> {
    /// The object of this name; the namespace is empty for objects of the cluster.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.read().table.get(namespace, name).cloned()
    }

    /// The object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// The object of this name if it is there in this version: who reads it from the server again need not decode it.
    pub fn same(&self, namespace: &str, name: &str, version: &str) -> Option<Arc<K>> {
        let objects = self.read();
        let object = objects.table.get(namespace, name)?;
        (object.meta().resource_version.as_deref() == Some(version)).then(|| Arc::clone(object))
    }

    /// All objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read().table.all().cloned().collect()
    }

    /// All objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        match selector.selects_all() {
            true => self.list(),
            false => self.read().table.all().filter(|object| matches::<K>(object, selector)).cloned().collect(),
        }
    }

    /// The objects of a namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.read().table.of_namespace(namespace).cloned().collect()
    }

    /// The objects of a namespace whose labels match.
    pub fn list_namespace_matching(&self, namespace: &str, selector: &Selector) -> Vec<Arc<K>> {
        let objects = self.read();
        let all = objects.table.of_namespace(namespace);
        match selector.selects_all() {
            true => all.cloned().collect(),
            false => all.filter(|object| matches::<K>(object, selector)).cloned().collect(),
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.read().table.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What follows the server follows it no more: there will be no other version and no other index.
    pub(crate) fn stop(&self) {
        let _writing = self.writing();
        self.0.progress.stop();
    }
}

impl<K> Store<K> {
    fn writing(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lock that was held when its thread panicked still guards whole tables: what a user's function can do is caught.
    fn read(&self) -> RwLockReadGuard<'_, Objects<K>> {
        self.0.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<K>> {
        self.0.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource + Send + Sync + 'static> Store<K> {
    /// Has an index kept from now on, over what is there and what will be.
    ///
    /// # Errors
    /// There is an index of this name, or the informer was stopped.
    pub fn add_index<V, F>(&self, index: Index<K, V, F>) -> Result<(), IndexError>
    where
        V: IndexValue,
        F: IndexFunction<K, V>,
    {
        let _writing = self.writing();
        if self.0.progress.is_stopped() {
            return Err(IndexError::Stopped(index.name()));
        }
        if self.has_index(index.name()) {
            return Err(IndexError::NameTaken(index.name()));
        }
        let kept = Kept::new(index, self.read().table.all());
        self.write().indexes.push(Box::new(kept));
        Ok(())
    }

    /// Whether an index of this name is kept.
    pub fn has_index(&self, name: &str) -> bool {
        self.read().indexes.iter().any(|kept| kept.name() == name)
    }

    /// The objects that are found under this value. Where the store does not keep an index of this name and type, every
    /// object is looked at.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.by_index_if(index, value, |_| true)
    }

    /// The keys of the objects that are found under this value, by namespace and name.
    pub fn index_keys<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<ObjectKey>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let mut keys: Vec<_> =
            self.by_index(index, value).iter().map(|object| ObjectKey::of(object.as_ref())).collect();
        keys.sort_unstable();
        keys
    }

    /// The values under which an object is found, each once.
    pub fn index_values<V, F>(&self, index: &Index<K, V, F>) -> Vec<V>
    where
        V: IndexValue,
        F: Fn(&K) -> Vec<V>,
    {
        let objects = self.read();
        match objects.kept(index) {
            Some(kept) => kept.values().cloned().collect(),
            None => {
                let values: HashSet<_> = objects.table.all().flat_map(|object| index.values(object)).collect();
                values.into_iter().collect()
            }
        }
    }

    /// The objects under this value that pass.
    pub(crate) fn by_index_if<V, F, Q>(
        &self,
        index: &Index<K, V, F>,
        value: &Q,
        passes: impl Fn(&K) -> bool,
    ) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let objects = self.read();
        if let Some(kept) = objects.kept(index) {
            return kept.find(value).filter(|object| passes(object)).cloned().collect();
        }
        let is_found = |object: &K| index.values(object).iter().any(|found| found.borrow() == value);
        objects.table.all().filter(|object| passes(object) && is_found(object)).cloned().collect()
    }
}

impl<K: Resource + Send + Sync + 'static> Objects<K> {
    fn kept<V, F>(&self, index: &Index<K, V, F>) -> Option<&Kept<K, V>>
    where
        V: IndexValue,
        F: Fn(&K) -> Vec<V>,
    {
        let kept = self.indexes.iter().find(|kept| kept.name() == index.name())?;
        let kept: &dyn Any = kept.as_ref();
        kept.downcast_ref()
    }
}

pub(crate) fn matches<K: Resource>(object: &K, selector: &Selector) -> bool {
    let none = Default::default();
    selector.matches(object.meta().labels.as_ref().unwrap_or(&none))
}
