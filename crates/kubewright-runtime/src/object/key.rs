//! The key of an object in stores and queues: `namespace/name`, or `name` if the object is cluster-scoped.

use std::{cmp::Ordering, fmt, str::FromStr, sync::Arc};

use kube::Resource;

/// Identifies one object of a kind. The UID is not part of the key: an object that is deleted and recreated keeps its
/// key.
///
/// Clones share the string, so a key moves from the store through the queue to a worker without being copied.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(Arc<str>);

impl ObjectKey {
    /// Creates the key of a namespaced object. An empty namespace gives the key of a cluster-scoped object.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        match namespace {
            "" => Self::cluster(name),
            namespace => ObjectKey([namespace, "/", name].concat().into()),
        }
    }

    /// Creates the key of a cluster-scoped object.
    pub fn cluster(name: &str) -> Self {
        ObjectKey(name.into())
    }

    /// Creates the key of an object from its metadata. The key of an object without a name is empty.
    pub fn from_object<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::namespaced(meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
    }

    /// Returns the namespace; empty for a cluster-scoped object.
    pub fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// Returns `namespace/name`, or `name` for a cluster-scoped object.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Orders keys by namespace, then by name.
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

/// Reports a string that is not an object key: it has more than one slash, or an empty part.
#[derive(Debug, thiserror::Error)]
#[error("invalid object key `{0}`: expected `namespace/name` or `name`")]
pub struct ParseKeyError(String);

impl FromStr for ObjectKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let (namespace, name) = text.split_once('/').unwrap_or(("", text));
        let is_valid = !name.is_empty() && !name.contains('/') && !text.starts_with('/');
        match is_valid {
            true => Ok(ObjectKey::namespaced(namespace, name)),
            false => Err(ParseKeyError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_as_namespace_slash_name() {
        for key in [ObjectKey::namespaced("default", "audit"), ObjectKey::cluster("audit")] {
            assert_eq!(key.to_string().parse::<ObjectKey>().unwrap(), key);
        }
        assert_eq!(ObjectKey::namespaced("default", "audit").to_string(), "default/audit");
        assert_eq!(ObjectKey::namespaced("", "audit"), ObjectKey::cluster("audit"));
    }

    #[test]
    fn keys_return_their_namespace_and_name() {
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
    fn invalid_keys_are_rejected() {
        for bad in ["", "/", "a/", "/a", "a/b/c"] {
            assert!(bad.parse::<ObjectKey>().is_err(), "{bad}");
        }
    }
}
