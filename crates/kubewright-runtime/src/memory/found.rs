//! The result of a query, which is decoded after the lock of the store is released.

use std::sync::Arc;

#[cfg(feature = "compact")]
use super::compact_object::CompactObject;
use super::stored::Stored;

/// The objects that a query found, in the states of one snapshot.
pub(crate) struct Found<K> {
    decoded: Vec<Arc<K>>,
    #[cfg(feature = "compact")]
    compact: Vec<Arc<CompactObject<K>>>,
}

impl<K> Found<K> {
    /// Decodes the objects. Those that cannot be decoded are reported and omitted.
    #[cfg(feature = "compact")]
    pub(crate) fn load(mut self) -> Vec<Arc<K>> {
        CompactObject::load_all(&self.compact, &mut self.decoded);
        self.decoded
    }

    /// Returns the objects.
    #[cfg(not(feature = "compact"))]
    pub(crate) fn load(self) -> Vec<Arc<K>> {
        self.decoded
    }
}

impl<'a, K: 'a> FromIterator<&'a Stored<K>> for Found<K> {
    fn from_iter<I: IntoIterator<Item = &'a Stored<K>>>(objects: I) -> Self {
        let objects = objects.into_iter();
        let (least, _) = objects.size_hint();
        let mut found = Found {
            decoded: Vec::new(),
            #[cfg(feature = "compact")]
            compact: Vec::new(),
        };
        for object in objects {
            match object {
                Stored::Decoded(object) => push(&mut found.decoded, object, least),
                #[cfg(feature = "compact")]
                Stored::Compact(object) => push(&mut found.compact, object, least),
            }
        }
        found
    }
}

/// Adds a reference. The first one allocates the memory for all.
fn push<T>(objects: &mut Vec<Arc<T>>, object: &Arc<T>, least: usize) {
    if objects.is_empty() {
        objects.reserve_exact(least);
    }
    objects.push(Arc::clone(object));
}
