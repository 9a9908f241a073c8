//! Indexes: objects found by a value of theirs, without looking at the others.

mod kept;

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

pub(crate) use kept::{AnyKept, Kept};

/// The function of an index: any that gives the values of an object.
pub trait IndexFunction<K, V>: Fn(&K) -> Vec<V> + Send + Sync + 'static {}

impl<K, V, F: Fn(&K) -> Vec<V> + Send + Sync + 'static> IndexFunction<K, V> for F {}

/// What objects can be found by: such as a `String`, a number, an enum, or a tuple of these.
pub trait IndexValue: Eq + Hash + Clone + Send + Sync + 'static {}

impl<V: Eq + Hash + Clone + Send + Sync + 'static> IndexValue for V {}

/// A way to find objects of a kind: under which values each is found.
///
/// `#[genclient(index(..))]` declares one on the kind, and the generated client has it as a constant. Others are made here:
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use logger_runtime::Index;
///
/// /// A function, so it can be a constant. An object may be found under several values, or under none.
/// const BY_NODE: Index<Pod> =
///     Index::new("by_node", |pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect());
///
/// // A closure, and values that are numbers.
/// let least = 10;
/// let by_size = Index::with("by_size", move |map: &ConfigMap| {
///     let size = map.data.as_ref().map_or(0, |data| data.len());
///     if size < least { vec![] } else { vec![size] }
/// });
/// ```
///
/// It promises:
/// - its function cannot fail: it gives values, not a result. If it panics that is logged, and the object is not found in it;
/// - it is asked for an object when that comes, when it changes and when it goes, and never when the index is read.
///
/// The function must give the same values for the same object, and must not ask the store that it is an index of.
///
/// `F` is the function: a plain one unless the index was made [of a closure](Self::with).
pub struct Index<K, V = String, F = fn(&K) -> Vec<V>> {
    name: &'static str,
    values: F,
    of: PhantomData<fn(&K) -> V>,
}

/// An index that a store does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The store has an index of this name.
    #[error("the store has an index `{0}` already; give this one another name, or read that one")]
    NameTaken(&'static str),
    /// The informer of this store was stopped.
    #[error("the informer of this store was stopped, so it takes no index `{0}` any more; add it before")]
    Stopped(&'static str),
}

impl<K, V> Index<K, V> {
    /// The index of this name; a store has one of each name.
    pub const fn new(name: &'static str, values: fn(&K) -> Vec<V>) -> Self {
        Index { name, values, of: PhantomData }
    }
}

impl<K, V, F: Fn(&K) -> Vec<V>> Index<K, V, F> {
    /// The same, by a closure.
    pub const fn with(name: &'static str, values: F) -> Self {
        Index { name, values, of: PhantomData }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Under which values an object is found.
    pub fn values(&self, object: &K) -> Vec<V> {
        (self.values)(object)
    }
}

impl<K, V, F: Clone> Clone for Index<K, V, F> {
    fn clone(&self) -> Self {
        Index { name: self.name, values: self.values.clone(), of: PhantomData }
    }
}

impl<K, V, F: Copy> Copy for Index<K, V, F> {}

impl<K, V, F> fmt::Debug for Index<K, V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}
