//! An object as a store holds it.

use std::sync::Arc;

use kube::Resource;

#[cfg(feature = "compact")]
use super::compact_object::CompactObject;
use super::label_matcher::LabelMatcher;
use crate::object::{ObjectKey, name_of, namespace_of};

/// An object as a store holds it. Clones share it.
#[derive(Debug)]
pub(crate) enum Stored<K> {
    Decoded(Arc<K>),
    #[cfg(feature = "compact")]
    Compact(Arc<CompactObject<K>>),
}

impl<K> Stored<K> {
    /// Returns the decoded object; `None` if it cannot be decoded, which is reported.
    pub(crate) fn load(&self) -> Option<Arc<K>> {
        match self {
            Stored::Decoded(object) => Some(Arc::clone(object)),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => object.load(),
        }
    }

    /// Returns the decoded object like [`load`](Self::load).
    pub(crate) fn into_loaded(self) -> Option<Arc<K>> {
        match self {
            Stored::Decoded(object) => Some(object),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => object.load(),
        }
    }

    /// Marks the state as replaced or deleted: it is no longer reported if it cannot be decoded.
    pub(crate) fn supersede(&self) {
        match self {
            Stored::Decoded(_) => {}
            #[cfg(feature = "compact")]
            Stored::Compact(object) => object.supersede(),
        }
    }

    /// Returns whether both are the same state in memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.address() == other.address()
    }

    /// Returns the address, which identifies the state while it is in memory.
    pub(crate) fn address(&self) -> *const () {
        match self {
            Stored::Decoded(object) => Arc::as_ptr(object).cast(),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => Arc::as_ptr(object).cast(),
        }
    }
}

impl<K: Resource> Stored<K> {
    /// Returns the namespace and the name.
    pub(crate) fn key(&self) -> (&str, &str) {
        match self {
            Stored::Decoded(object) => (namespace_of(object.as_ref()), name_of(object.as_ref())),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => object.key(),
        }
    }

    pub(crate) fn object_key(&self) -> ObjectKey {
        let (namespace, name) = self.key();
        ObjectKey::namespaced(namespace, name)
    }

    /// Returns the UID; `None` if it is missing or empty.
    pub(crate) fn uid(&self) -> Option<&str> {
        let uid = match self {
            Stored::Decoded(object) => object.meta().uid.as_deref(),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => Some(object.uid()),
        };
        uid.filter(|uid| !uid.is_empty())
    }

    /// Returns the resource version; `None` if it is missing or empty.
    pub(crate) fn version(&self) -> Option<&str> {
        let version = match self {
            Stored::Decoded(object) => object.meta().resource_version.as_deref(),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => Some(object.version()),
        };
        version.filter(|version| !version.is_empty())
    }

    /// Returns whether the labels match.
    pub(crate) fn matches(&self, matcher: &LabelMatcher<'_>) -> bool {
        match self {
            Stored::Decoded(object) => matcher.matches(object.meta().labels.as_ref()),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => object.matches(matcher),
        }
    }
}

impl<K> Clone for Stored<K> {
    fn clone(&self) -> Self {
        match self {
            Stored::Decoded(object) => Stored::Decoded(Arc::clone(object)),
            #[cfg(feature = "compact")]
            Stored::Compact(object) => Stored::Compact(Arc::clone(object)),
        }
    }
}

impl<K> From<Arc<K>> for Stored<K> {
    fn from(object: Arc<K>) -> Self {
        Stored::Decoded(object)
    }
}
