//! An object as compact bytes, which is decoded when it is read.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{codec::Codec, label_matcher::LabelMatcher, packed_object::PackedObject};
use crate::{error::ObjectError, object::ObjectKey};

/// Queries of up to this number of objects make them hot. Larger ones would evict all others.
const MAX_HOT_QUERY: usize = 100;

/// One state of an object. It is immutable.
pub(crate) struct CompactObject<K> {
    codec: Arc<Codec<K>>,
    /// The number of this state, which identifies it among the hot objects.
    id: u64,
    packed: PackedObject,
    /// Whether the store contains another state of the object, or none. Then it is of no interest that this state
    /// cannot be decoded.
    is_superseded: AtomicBool,
}

impl<K> CompactObject<K> {
    pub(super) fn new(codec: Arc<Codec<K>>, id: u64, packed: PackedObject) -> Self {
        CompactObject { codec, id, packed, is_superseded: AtomicBool::new(false) }
    }

    /// Returns the namespace and the name.
    pub(super) fn key(&self) -> (&str, &str) {
        (self.packed.namespace(), self.packed.name())
    }

    pub(super) fn uid(&self) -> &str {
        self.packed.uid()
    }

    pub(super) fn version(&self) -> &str {
        self.packed.version()
    }

    pub(super) fn matches(&self, matcher: &LabelMatcher<'_>) -> bool {
        let table = self.codec.labels();
        matcher.matches_with(|key| table.find(self.packed.labels(), key))
    }

    /// Marks the state as replaced or deleted: it is no longer reported if it cannot be decoded.
    pub(super) fn supersede(&self) {
        self.is_superseded.store(true, Ordering::Release);
        self.codec.undecodable().remove(|| self.object_key());
    }

    /// Returns the decoded object and makes it hot; `None` if it cannot be decoded, which is reported.
    pub(crate) fn load(&self) -> Option<Arc<K>> {
        self.load_as(true)
    }

    /// Returns the decoded object like [`load`](Self::load), but does not make it hot.
    pub(crate) fn peek(&self) -> Option<Arc<K>> {
        self.load_as(false)
    }

    /// Decodes the object, whether or not it is hot.
    #[cfg(test)]
    pub(super) fn decode(&self) -> Result<K, ObjectError> {
        self.codec.decode(&self.packed)
    }

    /// Returns the length of the JSON.
    #[cfg(test)]
    pub(super) fn json_len(&self) -> usize {
        self.packed.json().len
    }

    /// Decodes objects. Those that cannot be decoded are reported and omitted.
    pub(super) fn load_all(objects: &[Arc<Self>], loaded: &mut Vec<Arc<K>>) {
        let is_hot = objects.len() <= MAX_HOT_QUERY;
        loaded.reserve_exact(objects.len());
        loaded.extend(objects.iter().filter_map(|object| object.load_as(is_hot)));
    }

    fn load_as(&self, is_hot: bool) -> Option<Arc<K>> {
        if let Some(object) = self.codec.hot().get(self.id) {
            return Some(object);
        }
        match self.codec.decode(&self.packed) {
            Ok(object) => {
                let object = Arc::new(object);
                if is_hot {
                    self.codec.hot().insert(self.id, Arc::clone(&object), self.packed.json().len);
                }
                Some(object)
            }
            Err(error) => {
                self.report(error);
                None
            }
        }
    }
}

impl<K> CompactObject<K> {
    fn report(&self, error: ObjectError) {
        if self.is_superseded.load(Ordering::Acquire) {
            return;
        }
        self.codec.report(self.object_key(), error);
        // It can have been superseded meanwhile.
        if self.is_superseded.load(Ordering::Acquire) {
            self.codec.undecodable().remove(|| self.object_key());
        }
    }

    fn object_key(&self) -> ObjectKey {
        let (namespace, name) = self.key();
        ObjectKey::namespaced(namespace, name)
    }
}

impl<K> Drop for CompactObject<K> {
    fn drop(&mut self) {
        self.codec.hot().remove(self.id);
    }
}

impl<K> fmt::Debug for CompactObject<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (namespace, name) = self.key();
        let mut debug = f.debug_struct("CompactObject");
        debug.field("namespace", &namespace).field("name", &name).field("version", &self.version());
        debug.finish_non_exhaustive()
    }
}
