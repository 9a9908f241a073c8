//! Indexes: finding objects by a value without scanning the other objects.

mod table;

use std::{fmt, hash::Hash, marker::PhantomData};

pub(super) use table::{AnyIndexTable, IndexTable, State};

/// The function of an index: returns the values of an object.
pub trait IndexFunc<K, V>: Fn(&K) -> Vec<V> + Send + Sync + 'static {}

impl<K, V, F: Fn(&K) -> Vec<V> + Send + Sync + 'static> IndexFunc<K, V> for F {}

/// A value by which objects can be found, such as a `String`, a number, an enum or a tuple of these.
pub trait IndexValue: Eq + Hash + Clone + Send + Sync + 'static {}

impl<V: Eq + Hash + Clone + Send + Sync + 'static> IndexValue for V {}

/// An index on the objects of a kind: a name, and a function from an object to its values.
///
/// `#[genclient(index(..))]` declares an index on the kind, and the generated client has it as a constant. Others are
/// declared like this:
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use kubewright_runtime::Index;
///
/// /// A constant, from a function pointer. An object can have several values, or none.
/// const BY_NODE: Index<Pod> =
///     Index::new("by_node", |pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect());
///
/// // A closure, with numbers as values.
/// let min = 10;
/// let by_size = Index::from_fn("by_size", move |map: &ConfigMap| {
///     let size = map.data.as_ref().map_or(0, |data| data.len());
///     if size < min { vec![] } else { vec![size] }
/// });
/// ```
///
/// Guarantees:
/// - the function is infallible: it returns values, not a result. A panic is reported by the informer, and the object
///   is not indexed;
/// - the function is called for an object when it is added, changed or deleted, and never by a query.
///
/// The function must be pure, and must not query the store that it indexes.
///
/// `F` is a function pointer unless the index was created [from a closure](Self::from_fn).
pub struct Index<K, V = String, F = fn(&K) -> Vec<V>> {
    name: &'static str,
    values: F,
    kind: PhantomData<fn(&K) -> V>,
}

/// The reason why an index was not added to a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The store has an index of this name.
    #[error("the store already has an index `{0}`; use another name, or use the existing index")]
    NameTaken(&'static str),
    /// The informer of this store was stopped.
    #[error("the informer of this store was stopped, so index `{0}` cannot be added; add it before")]
    Stopped(&'static str),
}

impl<K, V> Index<K, V> {
    /// Creates an index from a function pointer. Names are unique per store.
    pub const fn new(name: &'static str, values: fn(&K) -> Vec<V>) -> Self {
        Index { name, values, kind: PhantomData }
    }
}

impl<K, V, F: Fn(&K) -> Vec<V>> Index<K, V, F> {
    /// Creates an index from a closure. Names are unique per store.
    pub const fn from_fn(name: &'static str, values: F) -> Self {
        Index { name, values, kind: PhantomData }
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the values of an object.
    pub fn values(&self, object: &K) -> Vec<V> {
        (self.values)(object)
    }
}

impl<K, V, F: Clone> Clone for Index<K, V, F> {
    fn clone(&self) -> Self {
        Index { name: self.name, values: self.values.clone(), kind: PhantomData }
    }
}

impl<K, V, F: Copy> Copy for Index<K, V, F> {}

impl<K, V, F> fmt::Debug for Index<K, V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}
