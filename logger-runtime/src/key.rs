//! The key of an object in stores and queues: `namespace/name`, or `name` in the cluster.

use std::fmt;
use std::str::FromStr;

use kube::Resource;

/// Names one object of a kind. The uid is not part of it: an object that is made anew has the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// The namespace; empty for an object of the cluster.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// The key of an object in a namespace.
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        ObjectKey { namespace: namespace.into(), name: name.into() }
    }

    /// The key of an object of the cluster.
    pub fn cluster(name: impl Into<String>) -> Self {
        ObjectKey { namespace: String::new(), name: name.into() }
    }

    /// The key of an object, by its metadata; empty where it has no name.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        ObjectKey { namespace: meta.namespace.clone().unwrap_or_default(), name: meta.name.clone().unwrap_or_default() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
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
    }

    #[test]
    fn texts_that_are_no_key_are_refused() {
        for bad in ["", "/", "a/", "/a", "a/b/c"] {
            assert!(bad.parse::<ObjectKey>().is_err(), "{bad}");
        }
    }
}
