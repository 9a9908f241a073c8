//! Packs received objects for the store of an informer.

use std::{borrow::Borrow, marker::PhantomData, sync::Arc};

use kube::Resource;

use super::{Memory, stored::Stored};
#[cfg(feature = "compact")]
use super::{codec::Codec, compact_object::CompactObject};
use crate::{
    error::SkippedObjects,
    object::{ApiObject, ObjectKey},
};

/// Where an object comes from, which decides whether it is also held decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A list: it is held decoded if there is room.
    Listed,
    /// A change: it is about to be read, so it replaces those that were not read for the longest time.
    Changed,
}

/// Packs objects as a store holds them. Clones share their state.
pub(crate) enum Packer<K> {
    Plain(PhantomData<fn() -> K>),
    #[cfg(feature = "compact")]
    Compact(Arc<Codec<K>>),
}

impl<K> Clone for Packer<K> {
    fn clone(&self) -> Self {
        match self {
            Packer::Plain(kind) => Packer::Plain(*kind),
            #[cfg(feature = "compact")]
            Packer::Compact(codec) => Packer::Compact(Arc::clone(codec)),
        }
    }
}

impl<K> Default for Packer<K> {
    fn default() -> Self {
        Packer::Plain(PhantomData)
    }
}

impl<K> Packer<K> {
    /// Returns the objects that could not be decoded when they were read.
    pub(crate) fn undecodable(&self) -> SkippedObjects {
        match self {
            Packer::Plain(_) => SkippedObjects::default(),
            #[cfg(feature = "compact")]
            Packer::Compact(codec) => codec.undecodable().clone(),
        }
    }

    /// Removes an object that changed or was deleted from those that could not be decoded.
    #[cfg_attr(not(feature = "compact"), expect(unused_variables, reason = "plain objects are always decoded"))]
    pub(crate) fn forget(&self, key: impl FnOnce() -> ObjectKey) {
        match self {
            Packer::Plain(_) => {}
            #[cfg(feature = "compact")]
            Packer::Compact(codec) => {
                codec.undecodable().remove(key);
            }
        }
    }
}

impl<K: ApiObject> Packer<K> {
    pub(crate) fn new(memory: Memory) -> Self {
        match memory {
            Memory::Plain => Packer::default(),
            #[cfg(feature = "compact")]
            Memory::Compact => Packer::Compact(Arc::new(Codec::new())),
        }
    }
}

impl<K: Resource> Packer<K> {
    /// Packs an object. `text` is the JSON from which it was decoded, unless it was changed since.
    #[cfg_attr(not(feature = "compact"), expect(unused_variables, reason = "plain objects have no origin"))]
    pub(crate) fn pack<O: Borrow<K> + Into<Arc<K>>>(
        &self,
        object: O,
        origin: Origin,
        text: Option<&[u8]>,
    ) -> Stored<K> {
        match self {
            Packer::Plain(_) => Stored::Decoded(object.into()),
            #[cfg(feature = "compact")]
            Packer::Compact(codec) => {
                let decoded: &K = object.borrow();
                codec.undecodable().remove(|| ObjectKey::from_object(decoded));
                let Some(packed) = codec.encode(decoded, text) else { return Stored::Decoded(object.into()) };
                let (id, len) = (codec.next_state(), packed.json().len);
                if origin == Origin::Changed || codec.hot().has_room(len) {
                    codec.hot().insert(id, object.into(), len);
                }
                Stored::Compact(Arc::new(CompactObject::new(Arc::clone(codec), id, packed)))
            }
        }
    }
}
