//! Objects with an erased kind, as the store of an informer holds them.

use std::{fmt::Debug, sync::Arc};

use super::event::AnyObject;
#[cfg(feature = "compact")]
use crate::memory::CompactObject;
use crate::{memory::Stored, object::ApiObject};

/// A stored object, with the kind erased. Pending events refer to it, and it is decoded when they are delivered.
pub(super) trait AnyStored: Debug + Send + Sync {
    /// Returns the decoded object; `None` if it cannot be decoded, which is reported.
    fn load_any(self: Arc<Self>) -> Option<Arc<dyn AnyObject>>;
}

impl<K: ApiObject> AnyStored for K {
    fn load_any(self: Arc<Self>) -> Option<Arc<dyn AnyObject>> {
        Some(self)
    }
}

#[cfg(feature = "compact")]
impl<K: ApiObject> AnyStored for CompactObject<K> {
    /// What changed is hot already. The objects of an initial list or a resync would evict those that are read.
    fn load_any(self: Arc<Self>) -> Option<Arc<dyn AnyObject>> {
        let object: Arc<K> = self.peek()?;
        Some(object)
    }
}

/// Erases the kind of a stored object.
pub(super) fn erase<K: ApiObject>(object: Stored<K>) -> Arc<dyn AnyStored> {
    match object {
        Stored::Decoded(object) => object,
        #[cfg(feature = "compact")]
        Stored::Compact(object) => object,
    }
}
