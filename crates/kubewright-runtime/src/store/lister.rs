//! Listers: read access to an informer's store by namespace and name, without requests to the server.

use std::{borrow::Borrow, fmt, hash::Hash, sync::Arc, time::Duration};

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::core::Selector;

use super::{
    Store, WaitError,
    index::{Index, IndexValue},
};
use crate::object::{ApiObject, ObjectKey, resource_name};

/// Reads the objects of a kind from an informer's store. Clones read the same store.
///
/// Guarantees:
/// - returned objects are shared and immutable: clone an object to change it;
/// - it sends no requests, and each query sees one snapshot of the store;
/// - queries by name, namespace or index do not scan other objects.
///
/// Lists are unordered.
#[derive(Debug)]
pub struct Lister<K> {
    store: Store<K>,
}

/// Reads the objects of one namespace, like a [`Lister`] those of all.
#[derive(Debug)]
pub struct NamespaceLister<K> {
    store: Store<K>,
    namespace: String,
}

/// Reports an object that is not in the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotFound {
    /// Such as `loggers.example.com`.
    pub resource: String,
    /// The requested namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// The requested name.
    pub name: String,
}

/// Formats the error like client-go, with the namespace added.
impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\" not found", self.resource, self.name)?;
        match self.namespace.as_str() {
            "" => Ok(()),
            namespace => write!(f, " in namespace \"{namespace}\""),
        }
    }
}

impl<K: ApiObject> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Lister { store: self.store.clone() }
    }
}

impl<K: ApiObject> Clone for NamespaceLister<K> {
    fn clone(&self) -> Self {
        NamespaceLister { store: self.store.clone(), namespace: self.namespace.clone() }
    }
}

impl<K: ApiObject> Lister<K> {
    /// Creates a lister of this store.
    pub fn new(store: Store<K>) -> Self {
        Lister { store }
    }

    /// Returns the object of this key, such as a key from a work queue.
    ///
    /// # Errors
    /// Fails if the object is not in the store.
    pub fn get_by_key(&self, key: &ObjectKey) -> Result<Arc<K>, NotFound> {
        get(&self.store, key.namespace(), key.name())
    }

    /// Waits until the object of this key, or its absence, meets a condition, with a deadline. Returns the object. See
    /// [`Store::wait_until`].
    ///
    /// # Errors
    /// Fails if the informer was stopped or the deadline passed.
    pub async fn wait_until(
        &self,
        key: &ObjectKey,
        deadline: Duration,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Arc<K>>, WaitError> {
        self.store.wait_until_within(key, deadline, condition).await
    }

    /// Lists all objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list()
    }

    /// Lists the objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.store.list_matching(selector)
    }

    /// Lists the objects with this index value. If the store does not have the index, it scans all objects.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.store.by_index(index, value)
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> Lister<K> {
    /// Returns the lister of a namespace.
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<K> {
        NamespaceLister { store: self.store.clone(), namespace: namespace.to_owned() }
    }
}

impl<K: ApiObject<Scope = ClusterResourceScope>> Lister<K> {
    /// Returns the object of this name.
    ///
    /// # Errors
    /// Fails if the object is not in the store.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        get(&self.store, "", name)
    }
}

impl<K: ApiObject> NamespaceLister<K> {
    /// Returns the object of this name.
    ///
    /// # Errors
    /// Fails if the object is not in the store.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        get(&self.store, &self.namespace, name)
    }

    /// Waits until the object of this name, or its absence, meets a condition, with a deadline. Returns the object. See
    /// [`Store::wait_until`].
    ///
    /// # Errors
    /// Fails if the informer was stopped or the deadline passed.
    pub async fn wait_until(
        &self,
        name: &str,
        deadline: Duration,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Arc<K>>, WaitError> {
        self.store.wait_until_within(&ObjectKey::namespaced(&self.namespace, name), deadline, condition).await
    }

    /// Lists the objects of the namespace.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list_namespace(&self.namespace)
    }

    /// Lists the objects of the namespace whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.store.list_namespace_matching(&self.namespace, selector)
    }

    /// Lists the objects of the namespace with this index value. Objects of other namespaces with the value are
    /// scanned.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.store.by_index_if(index, value, |object| object.key().0 == self.namespace)
    }
}

fn get<K: ApiObject>(store: &Store<K>, namespace: &str, name: &str) -> Result<Arc<K>, NotFound> {
    store.get(namespace, name).ok_or_else(|| NotFound {
        resource: resource_name::<K>(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}
