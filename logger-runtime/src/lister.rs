//! Listers: reading an informer's store by namespace and name, without asking the server.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::core::Selector;

use crate::index::{Index, IndexValue};
use crate::key::ObjectKey;
use crate::object::{ApiObject, resource};
use crate::store::{Store, matches, namespace_of};

/// Reads the objects of a kind from an informer's store. Cloning gives another handle on the same store.
///
/// It promises:
/// - what it returns is shared and cannot be changed: copy an object before you change it;
/// - it asks no server, and each query sees one state of the store;
/// - finding by name, namespace or index does not look at other objects.
///
/// Lists are in no order.
#[derive(Debug)]
pub struct Lister<K> {
    store: Store<K>,
}

/// Reads the objects of one namespace, as a [`Lister`] those of all.
#[derive(Debug)]
pub struct NamespaceLister<K> {
    store: Store<K>,
    namespace: String,
}

/// An object that the store does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotFound {
    /// Such as `loggers.example.com`.
    pub resource: String,
    /// The namespace asked for; empty for objects of the cluster.
    pub namespace: String,
    /// The name asked for.
    pub name: String,
}

/// As client-go says it, with the namespace.
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
    /// Reads from this store.
    pub fn new(store: Store<K>) -> Self {
        Lister { store }
    }

    /// The object of this key, as a work queue hands it out.
    ///
    /// # Errors
    /// The store does not have it.
    pub fn get_by_key(&self, key: &ObjectKey) -> Result<Arc<K>, NotFound> {
        get(&self.store, key.namespace(), key.name())
    }

    /// All objects.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list()
    }

    /// All objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.store.list_matching(selector)
    }

    /// The objects that are found under this value. Where the store does not keep this index, every object is looked at.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.store.by_index(index, value)
    }

    /// Those of them whose labels match.
    pub fn by_index_matching<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q, selector: &Selector) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.store.by_index_if(index, value, |object| matches(object, selector))
    }
}

impl<K: ApiObject<Scope = NamespaceResourceScope>> Lister<K> {
    /// The objects of a namespace.
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<K> {
        NamespaceLister { store: self.store.clone(), namespace: namespace.to_owned() }
    }
}

impl<K: ApiObject<Scope = ClusterResourceScope>> Lister<K> {
    /// The object of this name.
    ///
    /// # Errors
    /// The store does not have it.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        get(&self.store, "", name)
    }
}

impl<K: ApiObject> NamespaceLister<K> {
    /// The object of this name.
    ///
    /// # Errors
    /// The store does not have it.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        get(&self.store, &self.namespace, name)
    }

    /// All objects of the namespace.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list_namespace(&self.namespace)
    }

    /// All objects of the namespace whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.store.list_namespace_matching(&self.namespace, selector)
    }

    /// The objects of the namespace that are found under this value. Those of other namespaces under it are looked at.
    pub fn by_index<V, F, Q>(&self, index: &Index<K, V, F>, value: &Q) -> Vec<Arc<K>>
    where
        V: IndexValue + Borrow<Q>,
        F: Fn(&K) -> Vec<V>,
        Q: Eq + Hash + ?Sized,
    {
        self.store.by_index_if(index, value, |object| namespace_of(object) == self.namespace)
    }
}

fn get<K: ApiObject>(store: &Store<K>, namespace: &str, name: &str) -> Result<Arc<K>, NotFound> {
    store.get(namespace, name).ok_or_else(|| NotFound {
        resource: resource::<K>(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}
