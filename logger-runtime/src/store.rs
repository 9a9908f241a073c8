//! The store: a local copy of the objects of a kind, by namespace, name and index. Also listers and read-your-writes
//! helpers.

mod apply;
mod index;
mod lister;
#[cfg(test)]
mod model;
mod mutation_cache;
mod progress;
mod table;
#[cfg(test)]
mod tests;
mod write_gate;

use std::{
    any::Any,
    borrow::Borrow,
    collections::HashSet,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use kube::{
    Resource,
    core::{Selector, SelectorExt},
};

pub(crate) use apply::Change;
pub use index::{Index, IndexError, IndexFunc, IndexValue};
pub use lister::{Lister, NamespaceLister, NotFound};
pub use mutation_cache::MutationCache;
pub(crate) use progress::SourceVersion;
pub use progress::WaitError;
pub use write_gate::WriteGate;

use crate::{error::UserCodePanicked, object::ObjectKey};
use index::{AnyIndexTable, IndexTable};
use table::{Table, insert, key_of, name_of, namespace_of, shrink_if_sparse};

/// The objects of a kind as an informer last saw them. Clones are handles of the same store.
///
/// Guarantees:
/// - objects are shared and immutable: a query result never changes;
/// - every query sees one snapshot; replacing all objects is one step;
/// - queries by key, namespace or index do not scan other objects, and a query by key does not allocate;
/// - it has a [resource version](Self::resource_version) that can be [waited for](Self::wait_for);
/// - it stores each object once, without copies of its name. An object that arrives again in the same version is
///   dropped.
///
/// Lists are unordered: sort them if necessary, for example by [`ObjectKey::from_object`]. An object whose name a
/// transform removed is stored under the empty name.
///
/// An informer fills its store. For tests, a store can be collected from objects:
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
    /// Held by a writer, so that what it reads before the write does not change.
    writing: Mutex<()>,
    progress: progress::Progress,
}

/// The objects by namespace and name, and their indexes.
struct Objects<K> {
    table: Table<K>,
    indexes: Vec<Box<dyn AnyIndexTable<K>>>,
    /// The panics of index functions that are not reported yet; at most [`MAX_PANICS`].
    panics: Vec<UserCodePanicked>,
}

/// The maximum number of panics of index functions that are reported for one event.
const MAX_PANICS: usize = 10;

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Store(Arc::clone(&self.0))
    }
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        let objects = RwLock::new(Objects { table: Table::default(), indexes: Vec::new(), panics: Vec::new() });
        Store(Arc::new(Shared { objects, writing: Mutex::default(), progress: progress::Progress::default() }))
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, version) = (self.read().table.len(), self.0.progress.version());
        f.debug_struct("Store").field("len", &len).field("version", &version).finish_non_exhaustive()
    }
}

/// Collects objects into a store. Of several objects with the same key the last one is stored.
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
    /// Returns the object of this name. The namespace is empty for a cluster-scoped object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.read().table.get(namespace, name).cloned()
    }

    /// Returns the object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// Returns the object of this name if it is stored in this version, so that a relist can reuse it.
    pub fn get_at_version(&self, namespace: &str, name: &str, version: &str) -> Option<Arc<K>> {
        let objects = self.read();
        let object = objects.table.get(namespace, name)?;
        (object.meta().resource_version.as_deref() == Some(version)).then(|| Arc::clone(object))
    }

    /// Lists all objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read().table.all().cloned().collect()
    }

    /// Lists the objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        match selector.selects_all() {
            true => self.list(),
            false => self.read().table.all().filter(|object| matches::<K>(object, selector)).cloned().collect(),
        }
    }

    /// Lists the objects of a namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.read().table.in_namespace(namespace).cloned().collect()
    }

    /// Lists the objects of a namespace whose labels match.
    pub fn list_namespace_matching(&self, namespace: &str, selector: &Selector) -> Vec<Arc<K>> {
        let objects = self.read();
        let all = objects.table.in_namespace(namespace);
        match selector.selects_all() {
            true => all.cloned().collect(),
            false => all.filter(|object| matches::<K>(object, selector)).cloned().collect(),
        }
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.read().table.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the namespaces of the watches that update the store, before the first event.
    pub(crate) fn set_namespaces(&self, namespaces: impl IntoIterator<Item = Option<String>>) {
        self.0.progress.set_namespaces(namespaces);
    }

    /// Returns whether objects of this namespace can be in the store.
    pub(crate) fn has_namespace(&self, namespace: &str) -> bool {
        self.0.progress.has_namespace(namespace)
    }

    /// Returns the panics of index functions since the last call.
    pub(crate) fn take_panics(&self) -> Vec<UserCodePanicked> {
        // The read lock must be released before the write lock is taken.
        let has_panics = !self.read().panics.is_empty();
        if has_panics { std::mem::take(&mut self.write().panics) } else { Vec::new() }
    }

    /// Marks the store as stopped: its informer does not update it anymore, and it accepts no further index.
    pub(crate) fn stop(&self) {
        let _writing = self.writing();
        self.0.progress.stop();
    }
}

impl<K> Store<K> {
    fn writing(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ignores poisoning: panics of user functions are caught, so the tables are consistent.
    fn read(&self) -> RwLockReadGuard<'_, Objects<K>> {
        self.0.objects.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Objects<K>> {
        self.0.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource + Send + Sync + 'static> Store<K> {
    /// Adds an index and indexes the stored objects.
    ///
    /// # Errors
    /// Fails if there is an index of this name, or the informer was stopped.
    pub fn add_index<V, F>(&self, index: Index<K, V, F>) -> Result<(), IndexError>
    where
        V: IndexValue,
        F: IndexFunc<K, V>,
    {
        let _writing = self.writing();
        if self.0.progress.is_stopped() {
            return Err(IndexError::Stopped(index.name()));
        }
        if self.has_index(index.name()) {
            return Err(IndexError::NameTaken(index.name()));
        }
        let mut panics = Vec::new();
        let table = IndexTable::new(index, self.read().table.all(), &mut panics);
        let mut objects = self.write();
        objects.indexes.push(Box::new(table));
        objects.panics.append(&mut panics);
        objects.panics.truncate(MAX_PANICS);
        Ok(())
    }

    /// Returns whether there is an index of this name.
    pub fn has_index(&self, name: &str) -> bool {
        self.read().indexes.iter().any(|index| index.name() == name)
    }

    /// Lists the objects with this index value. If the store has no index of this name and type, it scans all objects.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.by_index_if(index, value, |_| true)
    }

    /// Lists the keys of the objects with this index value, sorted by namespace and name.
    pub fn index_keys<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<ObjectKey>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let mut keys: Vec<_> =
            self.by_index(index, value).iter().map(|object| ObjectKey::from_object(object.as_ref())).collect();
        keys.sort_unstable();
        keys
    }

    /// Lists the distinct values of all objects.
    pub fn index_values<V, F>(&self, index: &Index<K, V, F>) -> Vec<V>
    where
        V: IndexValue,
        F: Fn(&K) -> Vec<V>,
    {
        let objects = self.read();
        match objects.index_table(index) {
            Some(table) => table.values().cloned().collect(),
            None => {
                let values: HashSet<_> = objects.table.all().flat_map(|object| index.values(object)).collect();
                values.into_iter().collect()
            }
        }
    }

    /// Lists the objects with this index value that satisfy a condition.
    fn by_index_if<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q, condition: impl Fn(&K) -> bool) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let objects = self.read();
        if let Some(table) = objects.index_table(index) {
            return table.find(value).filter(|object| condition(object)).cloned().collect();
        }
        let has_value = |object: &K| index.values(object).iter().any(|found| found.borrow() == value);
        objects.table.all().filter(|object| condition(object) && has_value(object)).cloned().collect()
    }
}

impl<K: Resource + Send + Sync + 'static> Objects<K> {
    fn index_table<V, F>(&self, index: &Index<K, V, F>) -> Option<&IndexTable<K, V>>
    where
        V: IndexValue,
        F: Fn(&K) -> Vec<V>,
    {
        let table = self.indexes.iter().find(|table| table.name() == index.name())?;
        let table: &dyn Any = table.as_ref();
        table.downcast_ref()
    }
}

fn matches<K: Resource>(object: &K, selector: &Selector) -> bool {
    let none = Default::default();
    selector.matches(object.meta().labels.as_ref().unwrap_or(&none))
}
