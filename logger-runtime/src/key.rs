//! The key of an object in stores and queues: `namespace/name`, or `name` in the cluster.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kube::Resource;

/// Names one object of a kind. The uid is not part of it: an object that is made anew has the same key.
///
/// A clone shares the text: keys go from stores to queues to workers without a copy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(Arc<str>);

impl ObjectKey {
    /// The key of an object in a namespace; an empty namespace is that of the cluster.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        match namespace {
            "" => Self::cluster(name),
            namespace => ObjectKey([namespace, "/", name].concat().into()),
        }
    }

    /// The key of an object of the cluster.
    pub fn cluster(name: &str) -> Self {
        ObjectKey(name.into())
    }

    /// The key of an object, by its metadata; empty where it has no name.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::namespaced(meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
    }

    /// The namespace; empty for an object of the cluster.
    pub fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// `namespace/name`, or `name` for an object of the cluster.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// By namespace, then by name.
impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.namespace(), self.name()).cmp(&(other.namespace(), other.name()))
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// A text that is no key: more than one slash, or an empty part.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no object key; expected `namespace/name` or `name`")]
pub struct ParseKeyError(String);

impl FromStr for ObjectKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let (namespace, name) = text.split_once('/').unwrap_or(("", text));
        let whole = !name.is_empty() && !name.contains('/') && !text.starts_with('/');
        match whole {
            true => Ok(ObjectKey::namespaced(namespace, name)),
            false => Err(ParseKeyError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_and_read_as_namespace_slash_name() {
        for key in [ObjectKey::namespaced("default", "audit"), ObjectKey::cluster("audit")] {
            assert_eq!(key.to_string().parse::<ObjectKey>().unwrap(), key);
        }
        assert_eq!(ObjectKey::namespaced("default", "audit").to_string(), "default/audit");
        assert_eq!(ObjectKey::namespaced("", "audit"), ObjectKey::cluster("audit"));
    }

    #[test]
    fn keys_give_their_namespace_and_name() {
        let (namespaced, cluster) = (ObjectKey::namespaced("default", "audit"), ObjectKey::cluster("audit"));
        assert_eq!((namespaced.namespace(), namespaced.name()), ("default", "audit"));
        assert_eq!((cluster.namespace(), cluster.name()), ("", "audit"));
    }

    #[test]
    fn keys_are_ordered_by_namespace_then_name() {
        let mut keys = ["a-b/c", "a/z", "a/c", "c"].map(|key| key.parse::<ObjectKey>().unwrap());
        keys.sort();
        assert_eq!(keys.map(|key| key.to_string()), ["c", "a/c", "a/z", "a-b/c"]);
    }

    #[test]
    fn texts_that_are_no_key_are_refused() {
        for bad in ["", "/", "a/", "/a", "a/b/c"] {
            assert!(bad.parse::<ObjectKey>().is_err(), "{bad}");
        }
    }
}
