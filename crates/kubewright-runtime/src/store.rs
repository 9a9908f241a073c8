//! The store: a local copy of the objects of a kind, by namespace, name and index. Also listers and read-your-writes
//! helpers.

mod apply;
mod index;
mod lister;
#[cfg(test)]
mod model;
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
    sync::{Arc, OnceLock},
};

use kube::{Resource, core::Selector};
use parking_lot::{Mutex, RwLock};

pub(crate) use apply::Change;
pub use index::{Index, IndexError, IndexFunc, IndexValue};
pub use lister::{Lister, NamespaceLister, NotFound};
pub(crate) use progress::SourceVersion;
pub use progress::WaitError;
pub use write_gate::WriteGate;

use crate::{
    error::{SkippedObjects, UserCodePanicked},
    memory::{Found, LabelMatcher, Memory, Origin, Packer, Stored},
    object::{ApiObject, ObjectKey},
};
use index::{AnyIndexTable, IndexTable};
use table::{Table, insert, shrink_if_sparse};

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
/// With [compact objects](crate::memory), a query decodes the objects that it returns and that are not decoded yet.
///
/// An informer fills its store. For tests, a store can be collected from objects:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{Lister, Store};
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
    /// How objects are packed, set before the first event; plain if it is not set.
    packer: OnceLock<Packer<K>>,
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
        let (packer, progress) = (OnceLock::new(), progress::Progress::default());
        Store(Arc::new(Shared { objects, packer, writing: Mutex::default(), progress }))
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, version) = (self.0.objects.read().table.len(), self.0.progress.version());
        f.debug_struct("Store").field("len", &len).field("version", &version).finish_non_exhaustive()
    }
}

/// Collects objects into a store. Of several objects with the same key the last one is stored.
impl<K: Resource> FromIterator<Arc<K>> for Store<K> {
    fn from_iter<I: IntoIterator<Item = Arc<K>>>(objects: I) -> Self {
        let store = Store::default();
        {
            let mut all = store.0.objects.write();
            objects.into_iter().for_each(|object| drop(all.table.insert(object.into())));
        }
        store
    }
}

impl<K: Resource> FromIterator<K> for Store<K> {
    fn from_iter<I: IntoIterator<Item = K>>(objects: I) -> Self {
        objects.into_iter().map(Arc::new).collect()
    }
}

impl<K: ApiObject> Store<K> {
    /// Creates an empty store that holds its objects in this way.
    #[cfg(test)]
    pub(crate) fn with_memory(memory: Memory) -> Self {
        let store = Store::default();
        store.set_memory(memory);
        store
    }

    /// Collects objects into a store that holds them in this way. Of several objects with the same key the last one is
    /// stored.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright_runtime::{Memory, Store};
    ///
    /// let mut map = ConfigMap::default();
    /// map.metadata.name = Some("audit".into());
    /// let store = Store::<ConfigMap>::collect(Memory::Plain, [map]);
    /// assert_eq!(store.len(), 1);
    /// ```
    pub fn collect(memory: Memory, objects: impl IntoIterator<Item = impl Into<Arc<K>>>) -> Self {
        let (store, packer) = (Store::default(), Packer::new(memory));
        {
            let mut all = store.0.objects.write();
            for object in objects {
                let object: Arc<K> = object.into();
                drop(all.table.insert(packer.pack(object, Origin::Listed, None)));
            }
        }
        drop(store.0.packer.set(packer));
        store
    }

    /// Sets how the objects are held, before the first event. Later calls have no effect.
    pub(crate) fn set_memory(&self, memory: Memory) {
        self.0.packer.get_or_init(|| Packer::new(memory));
    }
}

impl<K: Resource + 'static> Store<K> {
    /// Returns the object of this name. The namespace is empty for a cluster-scoped object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.stored(namespace, name)?.into_loaded()
    }

    /// Returns the object of this key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.get(key.namespace(), key.name())
    }

    /// Returns the object of this name as it is stored, so that the lock is released before it is decoded.
    pub(crate) fn stored(&self, namespace: &str, name: &str) -> Option<Stored<K>> {
        self.0.objects.read().table.get(namespace, name).cloned()
    }

    /// Returns the object of this name as it is stored, if it is stored in this version.
    pub(crate) fn stored_at_version(&self, namespace: &str, name: &str, version: &str) -> Option<Stored<K>> {
        self.0.objects.read().table.get(namespace, name).filter(|object| object.version() == Some(version)).cloned()
    }

    /// Lists all objects as they are stored.
    pub(crate) fn all_stored(&self) -> Vec<Stored<K>> {
        self.0.objects.read().table.all().cloned().collect()
    }

    /// Lists all objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        let found: Found<K> = self.0.objects.read().table.all().collect();
        found.load()
    }

    /// Lists the objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        if selector.selects_all() {
            return self.list();
        }
        let matcher = LabelMatcher::new(selector);
        let found: Found<K> = self.0.objects.read().table.all().filter(|object| object.matches(&matcher)).collect();
        found.load()
    }

    /// Lists the objects of a namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let found: Found<K> = self.0.objects.read().table.in_namespace(namespace).collect();
        found.load()
    }

    /// Lists the objects of a namespace whose labels match.
    pub fn list_namespace_matching(&self, namespace: &str, selector: &Selector) -> Vec<Arc<K>> {
        if selector.selects_all() {
            return self.list_namespace(namespace);
        }
        let matcher = LabelMatcher::new(selector);
        let matches = |object: &&Stored<K>| object.matches(&matcher);
        let found: Found<K> = self.0.objects.read().table.in_namespace(namespace).filter(matches).collect();
        found.load()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.0.objects.read().table.len()
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
        let has_panics = !self.0.objects.read().panics.is_empty();
        if has_panics { std::mem::take(&mut self.0.objects.write().panics) } else { Vec::new() }
    }

    /// Marks the store as stopped: its informer does not update it anymore, and it accepts no further index.
    pub(crate) fn stop(&self) {
        let _writing = self.0.writing.lock();
        self.0.progress.stop();
    }
}

impl<K> Store<K> {
    /// Returns how received objects are packed.
    pub(crate) fn packer(&self) -> Packer<K> {
        self.0.packer.get().cloned().unwrap_or_default()
    }

    /// Returns the objects that could not be decoded when they were read.
    pub(crate) fn undecodable(&self) -> SkippedObjects {
        self.0.packer.get().map(Packer::undecodable).unwrap_or_default()
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
        let _writing = self.0.writing.lock();
        if self.0.progress.is_stopped() {
            return Err(IndexError::Stopped(index.name()));
        }
        if self.has_index(index.name()) {
            return Err(IndexError::NameTaken(index.name()));
        }
        let mut panics = Vec::new();
        let table = IndexTable::new(index, self.0.objects.read().table.all(), &mut panics);
        let mut objects = self.0.objects.write();
        objects.indexes.push(Box::new(table));
        objects.panics.append(&mut panics);
        objects.panics.truncate(MAX_PANICS);
        Ok(())
    }

    /// Returns whether there is an index of this name.
    pub fn has_index(&self, name: &str) -> bool {
        self.0.objects.read().indexes.iter().any(|index| index.name() == name)
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
        let found =
            self.0.objects.read().index_table(index).map(|table| table.find(value).map(Stored::object_key).collect());
        let mut keys: Vec<_> =
            found.unwrap_or_else(|| self.scan(index, value).map(|(stored, _)| stored.object_key()).collect());
        keys.sort_unstable();
        keys
    }

    /// Lists the distinct values of all objects.
    pub fn index_values<V, F>(&self, index: &Index<K, V, F>) -> Vec<V>
    where
        V: IndexValue,
        F: Fn(&K) -> Vec<V>,
    {
        let found = self.0.objects.read().index_table(index).map(|table| table.values().cloned().collect());
        found.unwrap_or_else(|| {
            let objects = self.all_stored().into_iter().filter_map(Stored::into_loaded);
            let values: HashSet<_> = objects.flat_map(|object| index.values(&object)).collect();
            values.into_iter().collect()
        })
    }

    /// Lists the objects with this index value that satisfy a condition.
    fn by_index_if<V, F, Q>(
        &self,
        index: &Index<K, V, F>,
        value: &Q,
        condition: impl Fn(&Stored<K>) -> bool,
    ) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        let found: Option<Found<K>> = {
            let objects = self.0.objects.read();
            objects.index_table(index).map(|table| table.find(value).filter(|object| condition(object)).collect())
        };
        match found {
            Some(found) => found.load(),
            None => self.scan(index, value).filter(|(stored, _)| condition(stored)).map(|(_, object)| object).collect(),
        }
    }

    /// Scans all objects for those with this index value.
    fn scan<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> impl Iterator<Item = (Stored<K>, Arc<K>)>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.all_stored().into_iter().filter_map(move |stored| {
            let object = stored.load()?;
            let has_value = index.values(&object).iter().any(|found| found.borrow() == value);
            has_value.then_some((stored, object))
        })
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
