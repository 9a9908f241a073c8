//! Indexes: objects found by a value of theirs, without looking at the others.

mod kept;

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

pub(crate) use kept::{AnyKept, Kept};

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
pub struct Index<K, V = String> {
    name: &'static str,
    values: Values<K, V>,
}

/// A plain function where it can be one, since constants hold no closures.
enum Values<K, V> {
    Function(fn(&K) -> Vec<V>),
    Closure(Arc<Closure<K, V>>),
}

type Closure<K, V> = dyn Fn(&K) -> Vec<V> + Send + Sync;

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
        Index { name, values: Values::Function(values) }
    }

    /// The same, by a closure.
    pub fn with(name: &'static str, values: impl Fn(&K) -> Vec<V> + Send + Sync + 'static) -> Self {
        Index { name, values: Values::Closure(Arc::new(values)) }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Under which values an object is found.
    pub fn values(&self, object: &K) -> Vec<V> {
        match &self.values {
            Values::Function(values) => values(object),
            Values::Closure(values) => values(object),
        }
    }
}

impl<K, V> Clone for Index<K, V> {
    fn clone(&self) -> Self {
        let values = match &self.values {
            Values::Function(values) => Values::Function(*values),
            Values::Closure(values) => Values::Closure(Arc::clone(values)),
        };
        Index { name: self.name, values }
    }
}

impl<K, V> fmt::Debug for Index<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}
