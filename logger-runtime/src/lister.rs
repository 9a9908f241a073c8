//! Listers: reading an informer's store by namespace and name, without asking the server.

use std::sync::Arc;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;
use kube::core::{Selector, SelectorExt};

use crate::index::Index;
use crate::object::{ApiObject, resource};
use crate::store::Store;

/// Reads the objects of a kind from an informer's store. What it returns is shared and cannot be changed:
/// copy an object before you change it.
#[derive(Debug)]
pub struct Lister<K> {
    store: Store<K>,
}

/// Reads the objects of one namespace.
#[derive(Debug)]
pub struct NamespaceLister<K> {
    store: Store<K>,
    namespace: String,
}

/// An object that the store does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{resource} \"{name}\" not found")]
pub struct NotFound {
    /// Such as `loggers.example.com`.
    pub resource: String,
    /// The name asked for.
    pub name: String,
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Lister { store: self.store.clone() }
    }
}

impl<K: ApiObject> Lister<K> {
    /// Reads from this store.
    pub fn new(store: Store<K>) -> Self {
        Lister { store }
    }

    /// All objects, by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list()
    }

    /// All objects whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        matching(self.store.list(), selector)
    }

    /// The objects that are found under this value, by namespace and name.
    pub fn by_index(&self, index: &Index<K>, value: &str) -> Vec<Arc<K>> {
        self.store.by_index(index, value)
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
        found(self.store.get("", name), name)
    }
}

impl<K: ApiObject> NamespaceLister<K> {
    /// The object of this name.
    ///
    /// # Errors
    /// The store does not have it.
    pub fn get(&self, name: &str) -> Result<Arc<K>, NotFound> {
        found(self.store.get(&self.namespace, name), name)
    }

    /// All objects of the namespace, by name.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.store.list_namespace(&self.namespace)
    }

    /// The objects of the namespace that are found under this value, by name.
    pub fn by_index(&self, index: &Index<K>, value: &str) -> Vec<Arc<K>> {
        let mut found = self.store.by_index(index, value);
        found.retain(|object| object.meta().namespace.as_deref().unwrap_or_default() == self.namespace);
        found
    }

    /// All objects of the namespace whose labels match.
    pub fn list_matching(&self, selector: &Selector) -> Vec<Arc<K>> {
        matching(self.list(), selector)
    }
}

fn matching<K: Resource>(mut objects: Vec<Arc<K>>, selector: &Selector) -> Vec<Arc<K>> {
    let none = Default::default();
    objects.retain(|object| selector.matches(object.meta().labels.as_ref().unwrap_or(&none)));
    objects
}

fn found<K: ApiObject>(object: Option<Arc<K>>, name: &str) -> Result<Arc<K>, NotFound> {
    object.ok_or_else(|| NotFound { resource: resource::<K>(), name: name.to_owned() })
}
